/** The distributed engine passes the contract of stores. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { PoproomError } from '../../src/core/errors.ts';
import { guardRules } from '../../src/core/limits.ts';
import type { Quota } from '../../src/core/ports/clients.ts';
import type { RoomRecord, Store } from '../../src/core/ports/store.ts';
import type { TextStore } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { connectRedis, type Redis } from '../../src/redis/connection.ts';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';
import { script } from '../../src/redis/script.ts';
import { createRedisStore } from '../../src/store/redis/open.ts';
import { applyEdits } from '../../src/text/edits.ts';
import { anyEdits, anyText, editsOf } from '../contract/any-text.ts';
import { storeContract } from '../contract/store.ts';
import { createOnce, newRecord } from '../contract/store-idempotency.ts';
import {
  accessAttempt,
  appendInsertion,
  checkpoint,
  createRoom,
  day,
  file,
  hour,
  insertion,
  keepCheckpoint,
  mac,
  newClient,
  quota,
  start,
  storedText,
  textAppend,
  textEntry,
  textOf,
  unknownCode,
  writeText,
} from '../contract/store-under-test.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { crashingStores, observed } from './observed-redis.ts';
import { opener } from './open-redis.ts';

describe('on one server', () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  storeContract(
    'redis',
    opener(() => redis.url),
  );

  it('assigns the trash to the node that claimed it, until the claim is released', async (t) => {
    const { rooms, files, trash, trashClaims } = await observed(t, redis);
    const code = await createRoom(rooms);
    for (let n = 0; n < 3; n++) await files.addFile(code, file(), quota);
    await rooms.deleteRoom(code, start);
    const listed = await trash.listTrash(100);
    assert.equal(listed.length, 3);
    assert.deepEqual(await trashClaims.claim(listed, start), listed);
    await trashClaims.release(listed);
    await trashClaims.release([]);
    assert.deepEqual(await trashClaims.claim(listed, start), listed);
    assert.deepEqual(new Set(await trash.listTrash(100)), new Set(listed), 'a claim removes nothing');
  });

  it('[NODE-14] assigns the trash to one node, and to another one after a timeout', async (t) => {
    const store = await observed(t, redis);
    const trash = ['a', 'b', 'c'];
    assert.deepEqual(await store.trashClaims.claim(trash, start), trash);
    assert.deepEqual(await store.trashClaims.claim(['c', 'd'], start), ['d']);
    await store.trash.clearTrash(trash);
    assert.deepEqual(
      await store.trashClaims.claim(trash, start),
      [],
      'also for a node that listed the trash before it was cleared',
    );
    assert.deepEqual(await store.trashClaims.claim(trash, start + 60_000), trash);
  });

  it('[IDEM-1] creates one room for a request, wherever nodes crash while they run it', async (t) => {
    const { redis: connection, prefix, rooms } = await observed(t, redis);
    const untilCrash = crashingStores(connection, prefix);
    const crashed = (error: PoproomError) => assert.equal(error.code, 'UNAVAILABLE');
    let made = 0;
    for (let first = 0; first < 3; first++) {
      for (let second = 0; second < 5; second++) {
        const record = newRecord();
        for (const commands of [first, second]) await createOnce(untilCrash(commands).rooms, record).catch(crashed);
        const code = await createOnce(rooms, record);
        made += 1;
        assert.equal(await createOnce(rooms, record), code);
        assert.equal((await textOf(rooms, code))?.version, 0);
        assert.equal(await rooms.countRooms(start), made);
      }
    }
  });

  it('[LIFE-4] has deleted a room permanently, even if the list of all rooms is unreachable', async (t) => {
    const { whole, partial } = await fullAndPartialStores(t, redis);
    const code = await createRoom(whole.rooms, { expiresAt: start + hour });
    assert.deepEqual(await partial.rooms.deleteRoom(code, start), { seq: 1 });
    await whole.rooms.expireRooms(start + hour, 100);
    assert.equal((await whole.rooms.admit(accessAttempt(code, { now: start + hour }))).outcome, 'unknown');
  });

  it('[GUESS-6] [GUESS-7] evaluates exactly 100 wrong PINs over the lifetime of a room, on several nodes', async (t) => {
    const nodes = await nodesOn(t, redis);
    const [first] = nodes;
    const code = await createRoom(first.rooms, { pinMac: mac('0427'), expiresAt: start + day });
    const guess = (client: string, n: number, now: number) =>
      (nodes[n % nodes.length] ?? first).rooms.admit(accessAttempt(code, { client, pinMac: mac('9999'), now }));
    let evaluated = 0;
    for (let hours = 0; hours < 4; hours++) {
      const clients = Array.from({ length: 90 }, (_, n) => (n % 3 ? newClient() : `172.${30 * hours + n / 3}.0.1`));
      const guesses = await Promise.all(clients.map((client, n) => guess(client, n, start + hours * hour)));
      evaluated += guesses.filter(({ outcome }) => outcome === 'pin-incorrect').length;
    }
    assert.equal(evaluated, 100);
    for (const { rooms } of nodes) {
      const late = await rooms.admit(
        accessAttempt(code, { client: '172.250.0.1', pinMac: mac('0427'), now: start + 5 * hour }),
      );
      assert.deepEqual(late, { outcome: 'pin-locked', until: start + day, isForLife: true });
    }
  });

  it('[NODE-24] counts a request, checks a client, counts its misses and reads in one command', async (t) => {
    const { rooms, traffic } = await observed(t, redis, guardRules(60));
    const free: Quota = { tier: 'free', limit: 100, windowMs: hour };
    const [open, locked] = [await createRoom(rooms), await createRoom(rooms, { pinMac: mac('0427') })];
    const attempts = [
      accessAttempt(open),
      accessAttempt(open, { deviceId: 'phone' }),
      accessAttempt(locked, { pinMac: mac('0427') }),
      accessAttempt(locked, { pinMac: mac('9999') }),
      accessAttempt(unknownCode()),
    ];
    const outcomes: string[] = [];
    traffic.length = 0;
    for (const attempt of attempts) {
      const spending = () => ({ client: attempt.client, quota: free, now: start });
      outcomes.push((await rooms.admit({ ...attempt, spending: spending() })).outcome);
      await rooms.read({ ...attempt, spending: spending() });
    }
    assert.deepEqual(outcomes, ['admitted', 'admitted', 'admitted', 'pin-incorrect', 'unknown']);
    assert.equal(traffic.length, 2 * attempts.length);
  });

  it('[NODE-24] sends all commands of a read together in a cluster, unless the client has misses', async (t) => {
    const { redis: connection, prefix } = await observed(t, redis);
    const events: ('sent' | 'received')[] = [];
    const run: Redis['run'] = async (...call) => {
      events.push('sent');
      const reply = await connection.run(...call);
      events.push('received');
      return reply;
    };
    const { rooms } = createRedisStore({ ...connection, run, isCluster: true }, prefix, guardRules(20));
    const code = await createRoom(rooms);
    const client = newClient();
    const roundTrips = async (of: RoomCode) => {
      const spending = { client, quota: { tier: 'free', limit: 100, windowMs: hour } as const, now: start };
      events.length = 0;
      await rooms.read(accessAttempt(of, { client, spending }));
      return events.filter((event, n) => event === 'sent' && events[n - 1] !== 'sent').length;
    };
    assert.equal(await roundTrips(code), 1);
    assert.equal(await roundTrips(unknownCode()), 2, 'a miss is counted');
    assert.equal(await roundTrips(code), 2);
  });

  it('[NODE-26] sends a text once to a node that reads it again, and every change of it', async (t) => {
    const { rooms, texts, traffic, redis: connection, prefix } = await observed(t, redis);
    const elsewhere = createRedisStore(connection, prefix, guardRules(0));
    const salt = 'AAAAAAAAAAAAAAAAAAAAAA';
    for (const encryption of [{}, { salt, pinMac: mac('key') }]) {
      const code = await createRoom(rooms, encryption);
      const attempt = accessAttempt(code, 'salt' in encryption ? { keyHash: mac('key') } : {});
      const sealed = 'salt' in encryption ? { edits: [], sealed: 'pop1.abc' } : {};
      const before: unknown[] = [];
      for (let version = 1; version <= 5; version++) {
        const entry = insertion(version, 'x'.repeat(1000), sealed);
        const content = `${version} ${'y'.repeat(1000)}`;
        const compaction = version % 2 ? { compaction: { content, dropThrough: version - 1 } } : {};
        await elsewhere.texts.appendText(code, textAppend(entry, compaction));
        const read = await rooms.read(attempt);
        assert.ok(read.outcome === 'admitted' && read.content.version === version);
        assert.deepEqual(await elsewhere.rooms.read(attempt), read);
        assert.ok(!before.some((earlier) => isDeepStrictEqual(earlier, read)));
        before.push(read);
        traffic.length = 0;
        assert.deepEqual(await rooms.read(attempt), read);
        assert.ok(traffic.length === 1 && (traffic[0] ?? 0) < 800, `characters sent and received: ${traffic}`);
      }
      const { version, content, lastRefs, ...stored } = await currentOf(texts, code);
      await elsewhere.texts.clearHistory(code, { version, revision: stored.revision, content, lastRefs }, start);
      assert.deepEqual(await rooms.read(attempt), await elsewhere.rooms.read(attempt));
      await elsewhere.rooms.deleteRoom(code, start);
      assert.equal((await rooms.read(attempt)).outcome, 'unknown');
    }
  });

  it('[GUESS-8] lets every counter expire, including shared ones', async (t) => {
    const connection = await connectRedis(parseRedisUrl(redis.url));
    t.after(() => connection.close());
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    const rules = { ...guardRules(20), countersPerWindow: 10 };
    const { rates, rooms } = createRedisStore(connection, prefix, rules);
    const quota: Quota = { tier: 'free', limit: 3, windowMs: hour };
    for (let n = 0; n < 30; n++) {
      await rates.take(`10.${n % 12}.0.${n}`, quota, start);
      await rooms.admit(accessAttempt(undefined, { client: `10.${n % 12}.0.${n}` }));
    }
    const names = (await connection.send(prefix, ['KEYS', `${prefix}:*`])) as string[];
    const expiring = (await connection.run(expiries, names, [])) as number[];
    assert.equal(names.length, 2 * (10 + 12));
    assert.ok(expiring.every((ms) => ms > 0 && ms <= hour));
  });

  it('[UNDO-2] has erased a file even if its index is unreachable', async (t) => {
    const { whole, partial } = await fullAndPartialStores(t, redis);
    const code = await createRoom(whole.rooms);
    const removed = [file(), file()];
    for (const added of removed) await whole.files.addFile(code, added, quota);
    for (const { id } of removed) await partial.files.removeFile(code, id, start);
    assert.equal(await partial.files.eraseRemoved(start + 1, 1), 1);
    assert.equal(await partial.files.eraseRemovedIn(code), 1);
    for (const { id } of removed) assert.equal(await whole.files.findFile(id, start), undefined);
    assert.deepEqual(new Set(await whole.trash.listTrash(10)), new Set(removed.map(({ blob }) => blob)));
  });
});

describe('the text in Redis', () => {
  let server: RedisServer;
  before(async () => {
    server = await startRedis();
  });
  after(() => server.stop());

  it('expires with its room, log and history included', async (t) => {
    const store = await observed(t, server);
    const { redis, rooms, keysOf } = store;
    const code = await createRoom(rooms);
    const { room, edits, history, historyTexts } = keysOf(code);
    await writeText(store.texts, code, 'first');
    await redis.send(room, ['PEXPIRE', room, '5000000']);
    await keepCheckpoint(store.texts, code, checkpoint(1, 'first'));
    const inMs = (await redis.run(expiries, [room, edits, history, historyTexts])) as number[];
    assert.ok(
      inMs.every((ms) => ms > 4_000_000 && ms <= 5_000_000),
      `expiries: ${inMs} ms`,
    );
  });

  it('[LIFE-4] leaves no key behind when its room is deleted, and only the marker of one that expired', async (t) => {
    const store = await observed(t, server);
    const { redis, rooms, prefix, keysOf } = store;
    const [deleted, expired] = [await createRoom(rooms), await createRoom(rooms, { expiresAt: start + hour })];
    for (const code of [deleted, expired]) {
      await writeText(store.texts, code, 'first');
      await keepCheckpoint(store.texts, code, checkpoint(1, 'first'));
    }
    await rooms.deleteRoom(deleted, start);
    await rooms.expireRooms(start + hour, 10);
    assert.deepEqual(await redis.send('', ['KEYS', `${prefix}:*`]), [keysOf(expired).room]);
  });

  it('continues in a room from before the log: the text is that of its version', async (t) => {
    const store = await observed(t, server);
    const { redis, rooms, archive, keysOf } = store;
    const code = await createRoom(rooms);
    const { room } = keysOf(code);
    await redis.send(room, ['HSET', room, 'content', 'older', 'version', '7']);
    await redis.send(room, ['HDEL', room, 'textVersion', 'logVersion', 'keepsHistory']);

    const content = { content: 'older', version: 7, writtenAt: start };
    const full = { revision: 7, fullTextVersion: 7, checkpointVersion: 0, keepsHistory: true };
    assert.deepEqual(await storedText(store.texts, code), { content, entries: [], logBytes: 0, lastRefs: [], ...full });
    assert.deepEqual(await textOf(rooms, code), content);
    const record = await archive.readRoom(code, start);
    assert.deepEqual([record?.content, record?.entries, record?.keepsHistory], [content, [], true]);
    assert.deepEqual(await appendInsertion(store.texts, code, 7, ''), {
      outcome: 'stale',
      version: 7,
      revision: 7,
      entries: undefined,
    });

    assert.equal((await appendInsertion(store.texts, code, 8, 'much ')).outcome, 'appended');
    assert.equal((await textOf(rooms, code))?.content, 'much older');
    assert.equal((await storedText(store.texts, code)).fullTextVersion, 7);
  });

  it('uses the text that a node from before the log wrote in between as the whole one', async (t) => {
    const store = await observed(t, server);
    const { redis, rooms, keysOf } = store;
    const code = await createRoom(rooms);
    const { room } = keysOf(code);
    for (const version of [1, 2, 3]) await appendInsertion(store.texts, code, version, `${version}`);
    await redis.send(room, ['HSET', room, 'content', 'theirs', 'version', '4']);

    assert.equal((await textOf(rooms, code))?.content, 'theirs');
    const state = await rooms.readState(code, start, { version: 3, writtenAt: start });
    assert.deepEqual(typeof state === 'object' && [state.text.content, state.text.entries], ['theirs', []]);
    assert.deepEqual(await appendInsertion(store.texts, code, 4, ''), {
      outcome: 'stale',
      version: 4,
      revision: 3,
      entries: undefined,
    });

    await store.texts.appendText(code, textAppend(insertion(5, 'not '), { previousRevision: 3 }));
    assert.equal((await textOf(rooms, code))?.content, 'not theirs');
    const { entries, fullTextVersion } = await storedText(store.texts, code);
    assert.deepEqual([entries.map(({ version }) => version), fullTextVersion], [[5], 4]);
  });

  it('[TEXT-7] is not sent with an edit, nor to a reader whose version is in the log', async (t) => {
    const store = await observed(t, server);
    const { rooms, traffic } = store;
    const code = await createRoom(rooms);
    const content = 'a'.repeat(1024 * 1024);
    const compaction = { content, dropThrough: 1 };
    await store.texts.appendText(code, textAppend(insertion(1, content), { compaction }));

    traffic.length = 0;
    await appendInsertion(store.texts, code, 2, 'b');
    await rooms.readState(code, start, { version: 1, writtenAt: start });
    await rooms.readState(code, start, { version: 2, writtenAt: start });
    assert.equal(traffic.length, 3);
    assert.ok(Math.max(...traffic) < 1024, `characters sent and received: ${traffic}`);
    assert.ok((await textOf(rooms, code))?.content === `b${content}`);
  });

  for (const [slow, numRuns] of [
    ['', 40],
    ['[slow] ', 200],
  ] as const) {
    it(`${slow}[TEXT-7] is the result of its edits in order, whatever they are, in ${numRuns} rooms`, async (t) => {
      const store = await observed(t, server);
      const { rooms } = store;
      const replays = fc.asyncProperty(anyText(20), fc.array(anyEdits, { maxLength: 6 }), async (original, drawn) => {
        const code = await createRoom(rooms);
        await store.texts.appendText(
          code,
          textAppend(insertion(1, original), { compaction: { content: original, dropThrough: 1 } }),
        );
        let text = original;
        for (const [n, one] of drawn.entries()) {
          const edits = editsOf(one, text);
          text = applyEdits(text, edits);
          await store.texts.appendText(code, textAppend(textEntry(n + 2, { edits })));
        }
        assert.equal((await textOf(rooms, code))?.content, text);
      });
      await fc.assert(replays, { seed: 1, numRuns });
    });
  }

  it('[slow] [MOVE-1] is restored with a log and a history of any length', async (t) => {
    const store = await observed(t, server);
    const { rooms, archive } = store;
    const record: RoomRecord = {
      code: unknownCode(),
      createdAt: start,
      expiresAt: start + hour,
      pinMac: undefined,
      name: undefined,
      seq: 20_000,
      pinAttempts: 0,
      content: { content: 'text', version: 20_000, writtenAt: start },
      entries: Array.from({ length: 10_000 }, (_, n) => textEntry(10_001 + n)),
      lastRefs: [],
      history: Array.from({ length: 10_000 }, (_, n) => checkpoint(n, `text ${n}`)),
      revision: 20_000,
      keepsHistory: true,
      owner: undefined,
      textCharge: undefined,
      files: [],
      trusted: [],
      links: [],
    };
    assert.equal(await archive.restoreRoom(record, start), 'restored');
    assert.deepEqual(await archive.readRoom(record.code, start), record);
    assert.equal((await appendInsertion(store.texts, record.code, 20_001, 'more ')).outcome, 'appended');
    assert.equal((await textOf(rooms, record.code))?.content, 'more text');
  });
});

async function currentOf(texts: TextStore, code: RoomCode) {
  const { content, revision, lastRefs } = await storedText(texts, code);
  return { version: content.version, content: content.content, revision, lastRefs };
}

const expiries = script(`
local inMs = {}
for i, key in ipairs(KEYS) do inMs[i] = redis.call('PTTL', key) end
return inMs
`);

/** The same rooms from two sides. One reaches what lies with a room alone, as when a part of a cluster is away. */
async function fullAndPartialStores(t: TestContext, { port }: RedisServer): Promise<{ whole: Store; partial: Store }> {
  const rights = ['on', 'nopass', '~*:{?}:*', '~*:{??}:*', '+@all'];
  execFileSync('redis-cli', ['-p', String(port), 'acl', 'setuser', 'partly', ...rights]);
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const open = async (login: string) => {
    const redis = await connectRedis(parseRedisUrl(`redis://${login}127.0.0.1:${port}`));
    t.after(() => redis.close());
    return createRedisStore(redis, prefix, guardRules(0));
  };
  return { whole: await open(''), partial: await open('partly:any@') };
}

/** Two nodes on the same data. */
async function nodesOn(t: TestContext, { url }: RedisServer): Promise<[Store, Store]> {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const open = async () => {
    const store = createRedisStore(await connectRedis(parseRedisUrl(url)), prefix, guardRules(0));
    t.after(() => store.close());
    return store;
  };
  return [await open(), await open()];
}
