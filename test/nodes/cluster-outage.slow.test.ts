/** Outages of a cluster, complete or partial: the rules for one server apply. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { type Device, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { askWithoutStores } from '../support/load.ts';
import { installationSettings, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { createSuiteCleanup, type ServerProcess } from '../support/process.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

const trueWithinMs = 5_000;
/** Enough that each server has some. */
const roomCount = 18;

describe('a cluster outage', () => {
  let redis: RedisCluster;
  let s3: TestS3;
  let nodes: [ServerProcess, ServerProcess];
  const suite = createSuiteCleanup();
  before(async () => {
    [redis, s3] = await Promise.all([startRedisCluster(['--appendonly', 'yes', '--appendfsync', 'always']), startS3()]);
    nodes = await startTwoNodes(suite, installationSettings({ redis, s3 }, withoutLimits));
  });
  after(async () => {
    await suite.end();
    await Promise.all([redis.stop(), s3.stop()]);
  });

  for (const [what, count] of [
    ['all of it', 3],
    ['one of its servers', 1],
  ] as const) {
    it(`[NODE-11] [NODE-12] devices receive writes as soon as ${what} has recovered`, async (t) => {
      const rooms = await Promise.all(Array.from({ length: roomCount }, () => watchedRoom(t, nodes)));
      const lost = redis.servers.slice(0, count);
      for (const server of lost) server.signal('SIGKILL');
      await eventually('it is noticed', async () => (await nodes[0].api.get('/readyz')).status === 503);
      await Promise.all(lost.map((server) => server.restart()));
      await redis.waitUntilHealthy();
      const control = askWithoutStores(nodes);
      const ms = await msUntilNotified(rooms);
      await control.stop();
      t.diagnostic(`notified after ${Math.round(ms)} ms, without Redis ${Math.round(control.slowest())} ms`);
      const within = trueWithinMs + 3 * control.slowest();
      assert.ok(ms < within, `the devices have the true state after ${ms} ms`);
    });
  }
});

type WatchedRoom = Awaited<ReturnType<typeof watchedRoom>>;

/** Writes to each of them. */
async function msUntilNotified(rooms: readonly WatchedRoom[]): Promise<number> {
  const since = performance.now();
  await Promise.all(rooms.map(({ write }) => eventually('writes are taken', write)));
  await Promise.all(rooms.map(({ isNotified }) => eventually('devices are notified', isNotified)));
  return performance.now() - since;
}

let watchedRooms = 0;

/** A room with a device on the node that is not written to. */
async function watchedRoom(t: TestContext, [one, two]: readonly [ServerProcess, ServerProcess]) {
  const code = await one.api.room();
  // A client may have only 20 channels.
  const headers = { 'x-forwarded-for': `198.51.100.${++watchedRooms}` };
  const device = await joinRoom(t, two.url, code, {}, { headers });
  await device.next('snapshot');
  const content = `the first in ${code} after it`;
  return {
    async write() {
      const response = await one.api.post(`/api/rooms/${code}/content`, { json: { content } });
      return response.status === 200 || isAway(response);
    },
    isNotified: () => textsIn(device).includes(content),
  };
}

const textsIn = ({ received }: Device) =>
  received.flatMap((message) => (message.type === 'content' ? [message.content] : []));

function isAway(response: ApiResponse): false {
  assertError(response, 503, 'UNAVAILABLE');
  return false;
}
