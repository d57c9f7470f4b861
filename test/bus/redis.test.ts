/** Events between nodes: the contract of event buses, and tests with several nodes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { openRedisBus } from '../../src/bus/redis.ts';
import type { EventBus, RoomChange } from '../../src/core/ports/rooms.ts';
import type { TextEntry } from '../../src/core/ports/texts.ts';
import { drawSymbols, type RoomCode } from '../../src/core/room-code.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { busContract } from '../contract/bus.ts';
import { eventually } from '../support/eventually.ts';
import { type RedisCluster, type RedisServer, startRedis, startRedisCluster } from '../support/redis.ts';

async function openBus(url: string) {
  const target = parseRedisUrl(url);
  const redis = await connectRedis(target);
  const bus = await openRedisBus(redis, target.prefix);
  return {
    bus,
    async dispose() {
      bus.close();
      await redis.close();
    },
  };
}

describe('on one server', () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  busContract('redis', () => openBus(redis.url));

  it('[LIVE-3] notifies the listeners of another node, once', async (t) => {
    const [one, other] = [await node(t, redis), await node(t, redis)];
    const code = drawSymbols() as RoomCode;
    const heard = { here: [] as number[], there: [] as number[] };
    await one.subscribe(code, ({ seq }) => heard.here.push(seq)).ready;
    await other.subscribe(code, ({ seq }) => heard.there.push(seq)).ready;
    for (const seq of [1, 2, 3]) one.publish(code, { seq });
    await eventually('the other node has heard all', () => heard.there.length === 3);
    // A message returned by Redis would have arrived before this one.
    other.publish(code, { seq: 4 });
    await eventually('this node has heard the other', () => heard.here.includes(4));
    assert.deepEqual(heard, { here: [1, 2, 3, 4], there: [1, 2, 3, 4] });
  });

  it('[LIVE-3] sends other nodes the entry of an edit, and that only the devices changed, but not the origin', async (t) => {
    const [one, other] = [await node(t, redis), await node(t, redis)];
    const code = drawSymbols() as RoomCode;
    const received = await receivedBy(other, code);
    const entry = entryWith('two words,\n\u2028 "quoted" \u0000 👍');
    const withoutDevice = { ...entry, version: 8, deviceId: undefined, ref: undefined };
    one.publish(code, { seq: 1, entry, origin: 'channel' });
    one.publish(code, { seq: 2, entry: withoutDevice });
    one.publish(code, { seq: 0, devicesOnly: true, origin: 'channel' });
    await eventually('the other node has received all', () => received.length === 3);
    assert.deepEqual(received, [
      { seq: 1, entry },
      { seq: 2, entry: withoutDevice },
      { seq: 0, devicesOnly: true },
    ]);
  });

  it('sends other nodes an entry of up to 8 KiB of JSON, and of a larger one only the seq', async (t) => {
    const [one, other] = [await node(t, redis), await node(t, redis)];
    const code = drawSymbols() as RoomCode;
    const received = await receivedBy(other, code);
    // Two bytes each: what counts is UTF-8.
    const room = 8 * 1024 - JSON.stringify(entryWith('')).length;
    const [fits, tooLarge] = [entryWith('é'.repeat(room / 2)), entryWith('é'.repeat(room / 2 + 1))];
    one.publish(code, { seq: 1, entry: fits });
    one.publish(code, { seq: 2, entry: tooLarge });
    await eventually('the other node has received both', () => received.length === 2);
    assert.deepEqual(received, [{ seq: 1, entry: fits }, { seq: 2 }]);
  });

  it('accepts messages of nodes from before the log, and ignores payloads that it does not understand', async (t) => {
    const bus = await node(t, redis);
    const code = drawSymbols() as RoomCode;
    const received = await receivedBy(bus, code);
    const good = entryWith('a');
    const malformed = [
      {},
      null,
      { ...good, version: 1.5 },
      { ...good, version: '1' },
      { ...good, edits: 'none' },
      { ...good, edits: [null] },
      { ...good, edits: [{ from: 0, to: 0 }] },
      { ...good, edits: [{ from: 0, to: '0', insert: '' }] },
      { ...good, deviceId: 5 },
      { ...good, ref: null },
      { ...good, writtenAt: undefined },
    ];
    const payloads = [
      '',
      ' ',
      ' {',
      ' []',
      ' null',
      ' 5',
      ' device',
      ...malformed.map((entry) => ` ${JSON.stringify({ entry })}`),
    ];
    const channel = `${parseRedisUrl(redis.url).prefix}:changes:${code}`;
    for (const payload of payloads) await command(redis.port, 'publish', channel, `older 7${payload}`);
    for (const message of ['older', 'older many']) await command(redis.port, 'publish', channel, message);
    await eventually('it has received all', () => received.length === payloads.length + 2);
    assert.deepEqual(received, [...payloads.map(() => ({ seq: 7 })), { seq: 0 }, { seq: 0 }]);
  });

  it('[LIVE-8] makes every listener read again after an interruption, and continues to receive', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const [one, other] = [await node(t, own), await node(t, own)];
    const code = drawSymbols() as RoomCode;
    const heard: number[] = [];
    await one.subscribe(code, ({ seq }) => heard.push(seq)).ready;
    await own.restart();
    await eventually('the feed is asked to reload', () => heard.includes(0));
    await eventually('it hears the other node again', () => {
      other.publish(code, { seq: 9 });
      return heard.includes(9);
    });
  });
});

describe('on a cluster', () => {
  let cluster: RedisCluster;
  before(async () => {
    cluster = await startRedisCluster();
  });
  after(() => cluster.stop());
  busContract('redis cluster', () => openBus(cluster.url));

  it('[LIVE-8] makes every listener read again when only the subscription was lost', async (t) => {
    const [one, other] = [await node(t, cluster), await node(t, cluster)];
    const code = drawSymbols() as RoomCode;
    const heard: number[] = [];
    await one.subscribe(code, ({ seq }) => heard.push(seq)).ready;
    for (const { port } of cluster.servers) await command(port, 'client', 'kill', 'type', 'pubsub');
    await eventually('the feed is asked to reload', () => heard.includes(0));
    other.publish(code, { seq: 9 });
    await eventually('later changes arrive', () => heard.includes(9));
  });
});

const entryWith = (insert: string): TextEntry => ({
  version: 7,
  edits: [{ from: 0, to: 3, insert }],
  deviceId: 'device',
  ref: 'ref 1',
  writtenAt: 1_700_000_000_000,
});

async function receivedBy(bus: EventBus, code: RoomCode): Promise<RoomChange[]> {
  const received: RoomChange[] = [];
  await bus.subscribe(code, (change) => received.push(change)).ready;
  return received;
}

/** Does not block this process: a connection of its bus that is silent for long is replaced. */
const command = (port: number, ...words: string[]) => promisify(execFile)('redis-cli', ['-p', String(port), ...words]);

async function node(t: TestContext, redis: Pick<RedisServer, 'url'>) {
  const { bus, dispose } = await openBus(redis.url);
  t.after(dispose);
  return bus;
}
