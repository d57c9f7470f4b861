/** Reads of the embedded engine: from memory, and from a shared snapshot. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { drawApiKey } from '../../src/core/clients.ts';
import type { Room } from '../../src/core/ports/basics.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { RoomCache } from '../../src/store/sqlite/cache.ts';
import { openSqliteKeys } from '../../src/store/sqlite/open.ts';
import {
  accessAttempt,
  createRoom,
  start,
  textAppend,
  textEntry,
  textOf,
  writeText,
} from '../contract/store-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { openStore, temporaryFolder } from './open-sqlite.ts';

describe('sqlite: reading', () => {
  it('[slow] [TEXT-1] returns every text when there are more than the cache holds', async (t) => {
    const store = await openStore(t, await temporaryFolder(t));
    const texts = Array.from({ length: 80 }, (_, n) => String.fromCharCode(65 + (n % 26)).repeat(256 * 1024 - n));
    const codes = await Promise.all(texts.map(() => createRoom(store.rooms)));
    await Promise.all(codes.map((code, n) => writeText(store.texts, code, texts[n] as string)));
    for (const round of ['first', 'second', 'third']) {
      for (const [n, code] of codes.entries()) {
        assert.equal((await store.rooms.admit(accessAttempt(code))).outcome, 'admitted');
        assert.ok((await textOf(store.rooms, code, start))?.content === texts[n], `text ${n}, ${round} time`);
      }
    }
  });
});

describe('sqlite: cached texts', () => {
  const code = 'ABC234' as RoomCode;
  const content = (version: number) => ({ content: `text ${version}`, version, writtenAt: start });

  it('[TEXT-6] are not replaced by an older one that is reported later', () => {
    const cache = new RoomCache();
    cache.put(code, { room: {} as Room, pinMac: null, content: content(2) });
    cache.putContent(code, content(1));
    assert.deepEqual(cache.get(code)?.content, content(2));
    cache.putContent(code, content(3));
    assert.deepEqual(cache.get(code)?.content, content(3));
  });
});

describe('sqlite: reads that share a snapshot', { concurrency: true }, () => {
  it('[KEY-4] see the changes of another process within a second, however many there are', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder);
    const { hash } = drawApiKey();
    const reading = startReading(store, await roomsToLookUp(store));
    await reading.hasBegun;
    const keys = openSqliteKeys(folder);
    t.after(() => keys.close());
    await keys.create({ id: 'key_1', name: 'another process', tier: 'pro', hash }, start);
    await eventually('the key holds', async () => (await store.keys.find(hash)) !== undefined, 1000);
    await reading.stop();
  });

  it('[slow] [TEXT-6] see every write that was acknowledged before them', async (t) => {
    const store = await openStore(t, await temporaryFolder(t));
    const codes = await roomsToLookUp(store);
    // Some of these begin during a write.
    const reading = startReading(store, await roomsToLookUp(store));
    await reading.hasBegun;
    const writeAndRead = async (code: RoomCode) => {
      for (let version = 2; version <= 20; version++) {
        await storeFullText(store, code, version, `${version} long`.repeat(60_000));
        assert.equal((await textOf(store.rooms, code, start))?.version, version);
      }
    };
    await Promise.all(codes.map(writeAndRead)).finally(reading.stop);
  });

  it('[slow] do not prevent the log from starting again', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder);
    const codes = await manyRooms(store, 10);
    const reading = startReading(store, await roomsToLookUp(store));
    // More than 32 MiB in all; SQLite restarts its log after about 4, or later if a read is active.
    for (let n = 0; n < 500; n++) {
      const text = String(n % 7).repeat(64 * 1024);
      await storeFullText(store, codes[n % codes.length] as RoomCode, 1 + Math.floor(n / codes.length), text);
    }
    await reading.stop();
    const { size } = await stat(join(folder, 'poproom.db-wal'));
    assert.ok(size < 20 * 1024 * 1024, `the log has ${size} bytes`);
  });
});

const manyRooms = (store: Store, count: number) =>
  Promise.all(Array.from({ length: count }, () => createRoom(store.rooms)));

/** Leaves no log behind, which would be read again and again. */
async function storeFullText(store: Store, code: RoomCode, version: number, content: string): Promise<void> {
  const compaction = { content, dropThrough: version };
  const { outcome } = await store.texts.appendText(code, textAppend(textEntry(version), { compaction }));
  assert.equal(outcome, 'appended');
}

/** With texts that are too long to be kept in memory. */
async function roomsToLookUp(store: Store): Promise<RoomCode[]> {
  const codes = await manyRooms(store, 10);
  await Promise.all(codes.map((code) => storeFullText(store, code, 1, 'long '.repeat(60_000))));
  return codes;
}

/** Reads one room after the other until it is stopped. `hasBegun` resolves after ten reads. */
function startReading(store: Store, codes: readonly RoomCode[]): { hasBegun: Promise<void>; stop(): Promise<void> } {
  const { promise: hasBegun, resolve } = Promise.withResolvers<void>();
  let isStopped = false;
  const read = async () => {
    for (let reads = 0; !isStopped; reads++) {
      await textOf(store.rooms, codes[reads % codes.length] as RoomCode, start);
      if (reads === 10) resolve();
      await setImmediate();
    }
  };
  const ended = read();
  return {
    hasBegun: Promise.race([hasBegun, ended]),
    stop() {
      isStopped = true;
      return ended;
    },
  };
}
