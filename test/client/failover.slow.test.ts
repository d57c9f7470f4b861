/** The SDK behind a load balancer whose nodes come and go. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { installationSettings, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { startRedis } from '../support/redis.ts';
import { startS3 } from '../support/s3.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { follow } from './follower.ts';

describe('the SDK, when a node is killed,', { timeout: 120_000 }, () => {
  it('[NODE-8] [SDK-3] reconnects to another node, which has all acknowledged writes', async (t) => {
    const redis = await startRedis();
    const s3 = await startS3();
    t.after(() => Promise.all([redis.stop(), s3.stop()]));
    const [killed, other] = await startTwoNodes(t, installationSettings({ redis, s3 }, withoutLimits));
    let node = killed;
    const balancer = await startTcpProxy(t, () => node.port);
    const client = createClient({ url: balancer.url });
    const { code: roomId } = await client.createRoom();
    const here = follow(t, client.room(roomId));
    const there = follow(t, createClient({ url: other.url }).room(roomId));
    await here.next('snapshot');
    await there.next('snapshot');
    let version = 0;
    for (const text of ['one', 'two', 'three']) ({ version } = await here.live.write(text, version));

    node = other;
    await killed.end('SIGKILL');
    await here.next('connected');
    const answer = await here.live.write('back', version);
    assert.equal(answer.type, 'written', 'no acknowledged write is missing');
    assert.equal(answer.version, version + 1);
    for (;;) if ((await there.next('content')).content === 'back') break;
    assert.equal((await other.api.get(`/api/rooms/${roomId}/content`)).json.content, 'back');
  });
});
