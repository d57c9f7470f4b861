/** A node that is killed while it receives an upload: the SDK repeats the request on another node. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { forwardTo, startFaultyS3 as startGateway } from '../support/faulty-s3.ts';
import { installationSettings, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { startRedis } from '../support/redis.ts';
import { startS3 } from '../support/s3.ts';

describe('an upload whose node is killed', () => {
  it('[IDEM-3] [IDEM-5] is repeated by the SDK when the lease of its key has ended, and stored once', async (t) => {
    const [redis, s3] = await Promise.all([startRedis(), startS3()]);
    t.after(() => Promise.all([redis.stop(), s3.stop()]));
    const [one, two] = await startTwoNodes(t, installationSettings({ redis, s3 }, withoutLimits));
    const leases = () =>
      execFileSync('redis-cli', ['-p', String(redis.port), 'keys', '*:lease:*'], { encoding: 'utf8' });

    let isFirst = true;
    const url = await startGateway(t, async (incoming, response) => {
      const { method, url: path = '', headers } = incoming;
      if (!isFirst || !path.includes('/upload')) return forwardTo(two.port)(incoming, response);
      isFirst = false;
      const started = request({ port: one.port, host: '127.0.0.1', method, path, headers });
      started.on('error', () => undefined).write('the first bytes');
      await eventually('the node has reserved the key', () => leases().includes(':lease:'));
      await one.end('SIGKILL');
      incoming.destroy();
    });
    const requestedWaits: (number | undefined)[] = [];
    const client = createClient({
      url,
      retry: true,
      onRetry: ({ error }) => void (error.code === 'REQUEST_IN_PROGRESS' && requestedWaits.push(error.retryAfter)),
    });
    const room = await client.createRoom();
    await room.upload(new Blob(['a'.repeat(100_000)]), { name: 'a.bin' });
    assert.equal((await room.files()).length, 1);
    assert.equal(requestedWaits.length, 1);
    const [seconds = 0] = requestedWaits;
    assert.ok(seconds >= 1 && seconds <= 10, `${seconds} s`);
  });
});
