/** Rooms past their time, on nodes that all sweep. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { installation, withoutLimits } from '../support/nodes.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const roomCount = 40;
const goneWithinMs = 60_000;

describe('two nodes that sweep at once', { timeout: 90_000 }, () => {
  let redis: RedisServer;
  let s3: TestS3;
  before(async () => {
    redis = await startRedis();
    s3 = await startS3();
    Object.assign(process.env, s3.env);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  it('[NODE-14] end each room once, and leave none of its bytes', async (t) => {
    const settings = installation({ redis, s3 }, withoutLimits);
    const [one, two] = [await startTestServer(t, settings), await startTestServer(t, settings)];
    for (let i = 0; i < roomCount; i++) {
      const room = await one.api.room({ expiresIn: 60 });
      assert.equal((await two.api.upload(room, 'a.txt', `bytes of ${room}`)).status, 201);
    }
    const stays = await one.api.room();
    await two.api.upload(stays, 'stays.txt', 'abc');
    assert.equal((await s3.keys()).length, roomCount + 1);

    const since = performance.now();
    for (const { clock } of [one, two]) clock.advance(61_000);
    // A start sweeps a moment later; so both do at the same time.
    await Promise.all([one.restart(), two.restart()]);
    await eventually('the bytes are gone', async () => (await s3.keys()).length === 1, goneWithinMs);
    await eventually('both have counted', () => endedBy(one) + endedBy(two) >= roomCount);
    assert.equal(endedBy(one) + endedBy(two), roomCount, 'each room is ended once');
    for (const { api } of [one, two]) assert.equal((await api.get(`/api/rooms/${stays}/files`)).json.files.length, 1);
    t.diagnostic(
      `${endedBy(one)} by one and ${endedBy(two)} by the other, in ${Math.round(performance.now() - since)} ms`,
    );
  });

  it('[NODE-14] tell the devices of all nodes that it is over', async (t) => {
    const settings = installation({ redis, s3 }, withoutLimits);
    const [one, two] = [await startTestServer(t, settings), await startTestServer(t, settings)];
    const room = await one.api.room({ expiresIn: 60 });
    const devices = await Promise.all([one, two].map(({ url }) => joinRoom(t, url, room)));
    await Promise.all(devices.map((device) => device.next('snapshot')));
    for (const { clock } of [one, two]) clock.advance(61_000);
    for (const device of devices) {
      assert.equal((await device.next('closed')).reason, 'expired');
      assert.equal((await device.closed).code, 4410);
    }
    for (const { api } of [one, two]) assert.equal((await api.get(`/api/rooms/${room}`)).code, 'ROOM_EXPIRED');
  });
});

/** How many rooms it says that it has ended. */
function endedBy({ logged }: TestServer): number {
  const swept = logged()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'swept');
  return swept.reduce((sum, { rooms }) => sum + rooms, 0);
}
