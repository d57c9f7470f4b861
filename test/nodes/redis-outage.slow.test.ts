/** Redis outages under load: responses stay fast and correct, and nothing acknowledged is lost. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertAcknowledged } from '../support/acknowledged.ts';
import { type ApiResponse, apiResponseOf } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { type Device, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { askRepeatedly, askWithoutStores, startLoad } from '../support/load.ts';
import { installationSettings, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { createSuiteCleanup, type ServerProcess } from '../support/process.ts';
import { peakMemory } from '../support/process-stats.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { applyMessage, emptyRoomView } from '../support/room-view.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const answersWithinMs = 2_000;
const trueWithinMs = 5_000;
/** After five wrong PINs, a client is locked out for 30 seconds. */
const guessForMs = 20_000;
/** An idle node has about 100. A leak during an outage would add far more. */
const mostMemory = 256;

interface Outage {
  how: string;
  begin(redis: RedisServer): void;
  lastsMs: number;
  end(redis: RedisServer): Promise<void> | void;
}

const outages: Outage[] = [
  {
    how: 'is frozen for ten seconds',
    begin: (redis) => redis.signal('SIGSTOP'),
    lastsMs: 10_000,
    end: (redis) => redis.signal('SIGCONT'),
  },
  {
    how: 'is killed and started again',
    begin: (redis) => redis.signal('SIGKILL'),
    lastsMs: 4_000,
    end: (redis) => redis.restart(),
  },
  { how: 'is restarted', begin: () => undefined, lastsMs: 0, end: (redis) => redis.restart() },
];

describe('a Redis outage', () => {
  let redis: RedisServer;
  let s3: TestS3;
  let nodes: [ServerProcess, ServerProcess];
  // Starting the nodes is most of the work. A node that did not recover from an outage fails the next test.
  const suite = createSuiteCleanup();
  before(async () => {
    redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    s3 = await startS3();
    nodes = await startTwoNodes(suite, installationSettings({ redis, s3 }, withoutLimits));
  });
  after(async () => {
    await suite.end();
    await Promise.all([redis.stop(), s3.stop()]);
  });

  for (const outage of outages) {
    it(`[NODE-9] [NODE-10] [NODE-11] [NODE-12] is survived when Redis ${outage.how}`, async (t) => {
      const quiet = await Promise.all(Array.from({ length: 6 }, () => watchedRoom(t, nodes)));
      const late = await Promise.all(Array.from({ length: 6 }, () => watchedRoom(t, nodes)));
      const guesses = await guess(nodes);
      const streams = openStreams(nodes, quiet[0]?.code ?? '');
      const control = askWithoutStores(nodes);
      const load = await startLoad({
        apis: nodes.map(({ api }) => api),
        rooms: 4,
        clients: 4,
        pauseMs: 100,
        checkRejection: isAway,
      });
      await eventually('the load is on', () => load.succeeded() > 50);

      outage.begin(redis);
      const [one] = nodes;
      const unsure = quiet.map(({ code }) =>
        one.api.post(`/api/rooms/${code}/content`, { json: { content: 'unsure' } }),
      );
      await pause(outage.lastsMs);
      if (outage.lastsMs > 0) await assertAway(nodes);
      await outage.end(redis);
      const returnedAt = performance.now();
      for (const response of await Promise.all(unsure)) if (response.status !== 200) isAway(response);
      const write = ({ code }: { code: string }) =>
        one.api.post(`/api/rooms/${code}/content`, { json: { content: 'the first after it' } });
      const isTaken = async (room: { code: string }) => (await write(room)).status === 200;
      await Promise.all(late.map((room) => eventually('writes are taken again', () => isTaken(room))));
      const backAfter = performance.now() - returnedAt;
      await Promise.all([...quiet, ...late].map(({ isTrue }) => eventually('devices have the truth', isTrue)));
      const trueAfter = performance.now() - returnedAt;

      await Promise.all([load.stop(), guesses.stop(), streams.stop(), control.stop()]);
      for (const room of load.rooms) for (const { api } of nodes) await assertAcknowledged(api, room);
      // The wait of requests that do not need Redis is caused by the load of the machine.
      const allowance = 3 * control.slowest();
      assert.ok(
        trueAfter < trueWithinMs + allowance,
        `the devices have the true state ${trueAfter} ms after its return`,
      );
      const within = answersWithinMs + allowance;
      assert.ok(load.slowestMs() < within, `the slowest response took ${load.slowestMs()} ms`);
      assert.ok(streams.slowest() < within, `the slowest stream took ${streams.slowest()} ms to open`);
      assert.ok(guesses.evaluated() <= 5, `${guesses.evaluated()} wrong PINs were evaluated`);
      const memory = await Promise.all(nodes.map(({ pid }) => peakMemory(pid)));
      for (const most of memory) assert.ok(most < mostMemory, `${most} MiB`);
      t.diagnostic(
        `${load.succeeded()} granted, ${load.rejected()} refused, slowest ${Math.round(load.slowestMs())} ms, ` +
          `streams ${Math.round(streams.slowest())} ms, without Redis ${Math.round(control.slowest())} ms; back after ${Math.round(backAfter)} ms, ` +
          `true after ${Math.round(trueAfter)} ms; ${guesses.evaluated()} PINs evaluated; ` +
          `at most ${memory.map(Math.round).join(' and ')} MiB`,
      );
    });
  }

  it('[NODE-12] does not hide a write without a response from a device of another node that noticed nothing', async (t) => {
    const { code, isTrue } = await watchedRoom(t, nodes);
    const writer = await joinRoom(t, nodes[0].url, code);
    writer.send({ type: 'content', content: 'early', baseVersion: 0 });
    await writer.next('written');
    redis.signal('SIGSTOP');
    writer.send({ type: 'content', content: 'late', baseVersion: 1 });
    assert.equal((await writer.next('error')).error.code, 'UNAVAILABLE');
    redis.signal('SIGCONT');
    const text = async () => (await nodes[0].api.get(`/api/rooms/${code}/content`)).json.content;
    await eventually('it is written after all', async () => (await text()) === 'late');
    await eventually('devices have the truth', isTrue);
  });

  it('[NODE-9] is reported while Redis accepts no writes, as during a failover', async (t) => {
    const { code } = await watchedRoom(t, nodes);
    const command = (...words: string[]) => execFileSync('redis-cli', ['-p', String(redis.port), ...words]);
    const write = () => nodes[0].api.post(`/api/rooms/${code}/content`, { json: { content: 'a' } });
    command('replicaof', '127.0.0.1', '1');
    isAway(await write());
    command('replicaof', 'no', 'one');
    await eventually('writes are taken again', async () => (await write()).status === 200);
  });

  describe('of nodes with limits, behind a proxy', () => {
    let proxy: TcpProxy;
    let limited: [ServerProcess, ServerProcess];
    before(async () => {
      proxy = await startTcpProxy(suite, () => redis.port);
      const stores = { redis: { url: proxy.url.replace('http', 'redis') }, s3 };
      limited = await startTwoNodes(suite, installationSettings(stores, { POPROOM_FREE_LIMIT: '10000' }));
    });

    it('[NODE-11] ends without a restart when connections died silently', async (t) => {
      const room = await watchedRoom(t, limited);
      proxy.dropSilently();
      const since = performance.now();
      const [one] = limited;
      const write = () => one.api.post(`/api/rooms/${room.code}/content`, { json: { content: 'again' } });
      await eventually('writes are taken again', async () => (await write()).status === 200);
      await eventually('devices have the truth', room.isTrue);
      t.diagnostic(`back after ${Math.round(performance.now() - since)} ms`);
    });

    it('[NODE-9] does not affect the rejection of invalid HTTP, with and without limits', async (t) => {
      redis.signal('SIGKILL');
      for (const { port, api } of [...nodes, ...limited]) {
        await eventually('it is away', async () => (await api.get('/readyz')).status === 503);
        const socket = await openRawSocket(t, port);
        await socket.send('this is not HTTP\r\n\r\n');
        assert.equal((await socket.response()).status, 400);
        assert.equal((await api.get('/api/health')).status, 503);
      }
    });
  });
});

/** The one refusal that an outage allows. */
function isAway(response: ApiResponse): void {
  assertError(response, 503, 'UNAVAILABLE');
  assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

async function assertAway(nodes: readonly ServerProcess[]): Promise<void> {
  for (const { api } of nodes) {
    isAway(await api.post('/api/rooms'));
    isAway(await api.get('/api/rooms/ABC234', { pin: '1234' }));
    assert.equal((await api.get('/readyz')).status, 503);
    assert.equal((await api.get('/livez')).status, 200);
  }
}

let watchedRooms = 0;

/** A room with a device on each node, of which each must come to know what the room has. */
async function watchedRoom(t: TestContext, nodes: readonly ServerProcess[]) {
  const [one] = nodes as [ServerProcess];
  const code = await one.api.room();
  // The channels of the previous test may not be closed yet, and a client may have only 20.
  const headers = { 'x-forwarded-for': `198.51.100.${++watchedRooms}` };
  const devices = await Promise.all(nodes.map(({ url }) => joinRoom(t, url, code, {}, { headers })));
  await Promise.all(devices.map((device) => device.next('snapshot')));
  const textOf = ({ received }: Device) => received.reduce(applyMessage, emptyRoomView()).text;
  return {
    code,
    async isTrue() {
      const { status, json } = await one.api.get(`/api/rooms/${code}/content`);
      return status === 200 && devices.every((device) => textOf(device) === json.content);
    },
  };
}

/** One client tries wrong PINs on all nodes in turn. */
async function guess(nodes: readonly ServerProcess[]) {
  const code = await (nodes[0] as ServerProcess).api.room({ pin: '0427' });
  let [evaluated, stopped] = [0, false];
  const startedAt = performance.now();
  async function run(): Promise<void> {
    for (let n = 0; !stopped && performance.now() - startedAt < guessForMs; n++) {
      const { api } = nodes[n % nodes.length] as ServerProcess;
      const response = await api.get(`/api/rooms/${code}`, { pin: String(1000 + n), from: '203.0.113.9' });
      if (response.code === 'PIN_INCORRECT') evaluated += 1;
      else if (response.code !== 'PIN_LOCKED') isAway(response);
      // The five tries reach into the outage.
      await pause(400);
    }
  }
  const done = run();
  done.catch(() => undefined);
  return {
    evaluated: () => evaluated,
    async stop() {
      stopped = true;
      await done;
    },
  };
}

/** Opens streams of events, one after the other, and closes them. */
const openStreams = (nodes: readonly ServerProcess[], code: string) =>
  askRepeatedly(nodes, `/api/rooms/${code}/events`, async (response) => {
    if (response.status === 200) await response.body?.cancel();
    else isAway(apiResponseOf(response.status, response.headers, await response.text()));
  });
