/** A room that is changed on one node is changed on all. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { createLink, revokeLink, roomWithLinks } from '../support/links.ts';
import { installationSettings, withoutLimits } from '../support/nodes.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

describe('a room that is changed on one of two nodes', () => {
  let redis: RedisServer;
  let s3: TestS3;
  before(async () => {
    [redis, s3] = await Promise.all([startRedis(), startS3()]);
    // The servers run in this process.
    Object.assign(process.env, s3.env);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  it('[CHANGE-6] [NODE-1] is changed for the devices and requests of the other', async (t) => {
    const settings = installationSettings({ redis, s3 }, withoutLimits);
    const options = { sweepEveryMs: 50, heartbeatMs: 1000 };
    const nodes = [await startTestServer(t, settings, options), await startTestServer(t, settings, options)] as const;
    const [one, two] = nodes;
    const advance = (ms: number) => {
      for (const { clock } of nodes) clock.advance(ms);
    };
    const room = await one.api.room({ expiresIn: 60 });
    const at = `/api/rooms/${room}`;
    const { fileUrl } = (await one.api.upload(room, 'a.txt', 'kept')).json;
    const device = await joinRoom(t, two.url, room);
    const { resumeToken } = await device.next('snapshot');

    const { expiresAt } = (await one.api.patch(at, { json: { expiresIn: 3600, name: 'Office' } })).json;
    const changed = await device.next('room');
    assert.deepEqual([changed.expiresAt, changed.name, changed.hasPin], [expiresAt, 'Office', false]);
    advance(120_000);
    assert.equal((await two.api.get(at)).json.name, 'Office');
    assert.equal((await two.api.get(new URL(fileUrl).pathname)).text, 'kept');

    await one.api.patch(at, { json: { pin: '0427' } });
    assert.equal((await device.next('room')).pinChanged, true);
    assertError(await two.api.get(at), 401, 'PIN_REQUIRED');
    const stranger = await joinRoom(t, two.url, room, {}, { resumeToken });
    assert.equal((await stranger.closed).code, 4401);

    assert.equal((await two.api.patch(at, { pin: '0427', json: { expiresIn: 60 } })).status, 200);
    await device.next('room');
    advance(60_000);
    assert.equal((await device.next('closed')).reason, 'expired');
    assertError(await one.api.get(at), 410, 'ROOM_EXPIRED');
    await eventually('the sweep removes it', async () => (await storedRooms(one)) === 0);
  });

  it('[ROLE-5] ends the live channels, tickets and tokens of a revoked link on the other', async (t) => {
    const settings = installationSettings({ redis, s3 }, withoutLimits);
    const [one, two] = [await startTestServer(t, settings), await startTestServer(t, settings)];
    const { room, read } = await roomWithLinks(one);
    const kept = await createLink(one, room, 'read');
    await one.api.upload(room, 'a.txt', 'bytes');
    const [reader, other] = [await joinRoom(t, two.url, read), await joinRoom(t, two.url, kept)];
    const { resumeToken = '' } = await reader.next('snapshot');
    await other.next('snapshot');
    const { url: zip } = (await two.api.post(`/api/rooms/${read}/tickets`)).json;
    const events = await fetch(`${two.url}/api/rooms/${read}/events`, { signal: t.signal });
    const received = events.text();
    const waiting = two.api.get(`/api/rooms/${read}/content?wait=60`, { headers: { 'if-none-match': '"0"' } });
    assert.equal((await fetch(zip)).status, 200);

    assert.equal((await revokeLink(one, room, read)).status, 200);
    assert.equal((await reader.next('closed')).reason, 'revoked');
    assert.equal((await reader.closed).code, 4410);
    assert.match(await received, /"type":"closed","reason":"revoked"/, 'the event stream has ended');
    assertError(await waiting, 404, 'ROOM_NOT_FOUND');
    for (const node of [one, two]) {
      assert.equal((await fetch(zip.replace(two.url, node.url))).status, 404, 'the ticket');
      const resumed = await joinRoom(t, node.url, read, {}, { resumeToken });
      assert.equal((await resumed.closed).code, 4404, 'the resume token');
    }
    await one.api.post(`/api/rooms/${room}/content`, { json: { content: 'later' } });
    assert.equal((await other.next('content')).content, 'later', 'other links stay');
  });
});

async function storedRooms(server: TestServer): Promise<number> {
  return (await (await inspectStore(server)).counts()).rooms;
}
