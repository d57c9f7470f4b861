/** Compaction of the log, and reads from an older version. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomStore } from '../../src/core/ports/rooms.ts';
import type { LogRetention, StoredRef, TextAppend, TextEntry } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  appendInsertion,
  applyEntries,
  comparableText,
  createRoom,
  currentText,
  insertion,
  type OpenStore,
  sharedStore,
  start,
  storedText,
  textAppend,
  textEntry,
  textOf,
} from './store-under-test.ts';

export function compactionTests(open: OpenStore): void {
  describe('compaction', () => compactingTests(open));
  describe('reading changes', () => sinceTests(open));
}

function compactingTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[TEXT-8] stores the full text, drops entries up to a version, and leaves the text as it is', async () => {
    const code = await createRoom(store.rooms);
    for (const version of [1, 2, 3]) await appendInsertion(store.texts, code, version, `${version}\u0000`);
    const content = '4\u00003\u00002\u00001\u0000';
    const compaction = { content, dropThrough: 2 };
    const appended = await store.texts.appendText(code, textAppend(insertion(4, '4\u0000'), { compaction }));
    assert.ok(appended.outcome === 'appended' && appended.seq === 4);
    assert.deepEqual(await comparableText(store.texts, code), {
      content: { content, version: 4, writtenAt: start },
      entries: [insertion(3, '3\u0000'), insertion(4, '4\u0000')],
      lastRefs: [],
      revision: 4,
      fullTextVersion: 4,
      checkpointVersion: 0,
      keepsHistory: true,
    });
    await appendInsertion(store.texts, code, 5, '5');
    assert.equal((await textOf(store.rooms, code))?.content, `5${content}`);
  });

  for (const [dropThrough, kept] of [
    [0, [1, 2, 3]],
    [1, [2, 3]],
    [3, []],
  ] as const) {
    it(`[TEXT-8] keeps entries ${kept.join(', ') || 'none'} of 3 when those up to ${dropThrough} are dropped`, async () => {
      const code = await createRoom(store.rooms);
      await appendInsertion(store.texts, code, 1, 'a');
      await appendInsertion(store.texts, code, 2, 'a');
      await store.texts.appendText(code, compacting(3, 'aaa', dropThrough));
      const { entries, fullTextVersion } = await storedText(store.texts, code);
      assert.deepEqual([entries.map(({ version }) => version), fullTextVersion], [[...kept], 3]);
      assert.equal((await textOf(store.rooms, code))?.content, 'aaa');
      assert.deepEqual(await appendInsertion(store.texts, code, 4, 'b'), { outcome: 'appended', seq: 4 });
      assert.equal((await textOf(store.rooms, code))?.content, 'baaa');
    });
  }

  it('[TEXT-8] keeps older entries that are recent, up to a number of bytes', async () => {
    const code = await createRoom(store.rooms);
    for (let version = 1; version <= 9; version++)
      await store.texts.appendText(code, textAppend(insertion(version, 'a', { writtenAt: start + version })));
    const append = (version: number, keep: LogRetention) =>
      store.texts.appendText(code, compacting(version, 'a'.repeat(version), version - 2, { keep }));
    const versions = async () => {
      const log = await store.texts.readEdits(code, 0, 100, start);
      const known = log === 'no-log' ? (await storedText(store.texts, code)).entries : log;
      return typeof known === 'string' ? known : known.map(({ version }) => version);
    };
    const whole = await append(10, { writtenSince: start + 1, maxBytes: 1_000_000 });
    assert.deepEqual(await versions(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.ok(whole.outcome === 'appended' && whole.logBytes);
    assert.equal((await storedText(store.texts, code)).logBytes, whole.logBytes);

    await append(11, { writtenSince: start + 4, maxBytes: 1_000_000 });
    assert.deepEqual(await versions(), [4, 5, 6, 7, 8, 9, 10, 11]);
    await append(12, { writtenSince: start + 4, maxBytes: Math.ceil(0.55 * whole.logBytes) });
    assert.deepEqual(await versions(), [8, 9, 10, 11, 12]);
    await append(13, { writtenSince: start + 1000, maxBytes: 1_000_000 });
    assert.deepEqual(await versions(), [12, 13], 'the newest stay however old they are');
    assert.equal((await textOf(store.rooms, code))?.content, 'a'.repeat(13));
  });

  it('[SYNC-3] remembers the last edit of each writer, also without the log', async () => {
    const code = await createRoom(store.rooms);
    const [first, second] = [
      insertion(1, 'a', { deviceId: 'phone', ref: 'x-1' }),
      insertion(2, 'a', { deviceId: 'laptop', ref: 'y-1' }),
    ];
    await store.texts.appendText(code, textAppend(first));
    await store.texts.appendText(code, textAppend(second));
    const { lastRefs } = await storedText(store.texts, code);
    assert.deepEqual(lastRefs, [refOf(first), refOf(second)]);
    await store.texts.appendText(code, compacting(3, 'aaa', 3, { lastRefs }));
    const third = insertion(4, 'a', { deviceId: 'phone', ref: 'x-2' });
    await store.texts.appendText(code, textAppend(third));
    assert.deepEqual((await storedText(store.texts, code)).lastRefs, [refOf(second), refOf(third)]);
    const state = await store.rooms.readState(code, start);
    assert.deepEqual(typeof state === 'object' && state.text.lastRefs, [refOf(second), refOf(third)]);
    const current = { ...currentText('aaaa', 4), lastRefs: [refOf(second), refOf(third)] };
    assert.equal(await store.texts.clearHistory(code, current, start), 'cleared');
    assert.deepEqual((await storedText(store.texts, code)).lastRefs, [refOf(second), refOf(third)]);
  });

  it('[TEXT-8] replaces the full text each time, the empty one included', async () => {
    const code = await createRoom(store.rooms);
    await store.texts.appendText(code, compacting(1, 'a', 1));
    const cleared = textEntry(2, { edits: [{ from: 0, to: 1, insert: '' }] });
    await store.texts.appendText(code, textAppend(cleared, { compaction: { content: '', dropThrough: 2 } }));
    assert.deepEqual({ ...(await textOf(store.rooms, code)) }, { content: '', version: 2, writtenAt: start });
    await appendInsertion(store.texts, code, 3, 'b');
    const { content, fullTextVersion } = await storedText(store.texts, code);
    assert.deepEqual([content.content, fullTextVersion], ['b', 2]);
  });

  it('[TEXT-8] leaves the texts and logs of other rooms alone', async () => {
    const [code, other] = [await createRoom(store.rooms), await createRoom(store.rooms)];
    await appendInsertion(store.texts, other, 1, 'other');
    const before = await storedText(store.texts, other);
    await store.texts.appendText(code, compacting(1, 'a', 1));
    assert.deepEqual(await storedText(store.texts, other), before);
  });

  it('[TEXT-8] shows the correct text to concurrent reads while appends compact', async () => {
    const code = await createRoom(store.rooms);
    const appends = Array.from({ length: 200 }, async (_, n) => {
      const append = n % 10 === 9 ? compacting(n + 1, 'a'.repeat(n + 1), n - 3) : textAppend(insertion(n + 1, 'a'));
      await store.texts.appendText(code, append);
      await assertAllA(store.rooms, code, n + 1);
    });
    await Promise.all(appends);
  });
}

/** An entry that inserts `a` and stores the full text. */
function compacting(
  version: number,
  content: string,
  dropThrough: number,
  over: Partial<NonNullable<TextAppend['compaction']>> = {},
): TextAppend {
  return textAppend(insertion(version, 'a', { writtenAt: start + version }), {
    compaction: { content, dropThrough, ...over },
  });
}

function refOf({ deviceId = '', ref = '', version, writtenAt }: TextEntry): StoredRef {
  return { deviceId, ref, version, writtenAt };
}

async function assertAllA(rooms: RoomStore, code: RoomCode, atLeast: number): Promise<void> {
  const { content, version } = (await textOf(rooms, code)) ?? { content: '', version: 0 };
  assert.ok(version >= atLeast, `read version ${version} after version ${atLeast}`);
  assert.equal(content, 'a'.repeat(version));
}

function sinceTests(open: OpenStore): void {
  const store = sharedStore(open);

  /** By the version of a reader, and when it was written. */
  async function textSince(code: RoomCode, version?: number, writtenAt = version === 4 ? start + 1 : start) {
    const state = await store.rooms.readState(code, start, version === undefined ? undefined : { version, writtenAt });
    assert.ok(typeof state === 'object', 'the room should exist');
    return state.text;
  }

  async function roomWith(entries: readonly TextEntry[], dropThrough: number): Promise<RoomCode> {
    const code = await createRoom(store.rooms);
    for (const [n, entry] of entries.entries()) {
      const isSecondLast = n === entries.length - 2;
      const content = applyEntries('', entries.slice(0, n + 1));
      await store.texts.appendText(
        code,
        textAppend(entry, { compaction: isSecondLast ? { content, dropThrough } : undefined }),
      );
    }
    return code;
  }

  const entries = [
    insertion(1, 'd'),
    insertion(2, 'c'),
    insertion(3, 'b'),
    insertion(4, 'a', { writtenAt: start + 1 }),
  ];
  const current = { version: 4, writtenAt: start + 1 };

  it('[TEXT-7] returns the whole text to a reader that names no version', async () => {
    const code = await roomWith(entries, 1);
    assert.deepEqual(await textSince(code), { ...current, content: 'abcd', entries: [], lastRefs: [] });
  });

  it('[TEXT-7] returns the entries since the version that the reader names', async () => {
    const code = await roomWith(entries, 1);
    for (const since of [1, 2, 3, 4]) {
      const newer = entries.slice(since);
      assert.deepEqual(await textSince(code, since), { ...current, content: undefined, entries: newer });
    }
  });

  it('[TEXT-7] [TEXT-8] returns the whole text if the log no longer has all entries', async () => {
    const code = await roomWith(entries, 2);
    for (const since of [0, 1]) {
      assert.deepEqual(await textSince(code, since), { ...current, content: 'abcd', entries: [], lastRefs: [] });
    }
    assert.deepEqual((await textSince(code, 2)).entries, entries.slice(2));
  });

  it('[TEXT-7] returns the whole text if the named version does not exist', async () => {
    const code = await roomWith(entries, 1);
    for (const since of [5, 1000]) {
      assert.deepEqual(await textSince(code, since), { ...current, content: 'abcd', entries: [], lastRefs: [] });
    }
  });

  it('[TEXT-7] returns no changes of a new room to a reader that has version 0', async () => {
    const code = await createRoom(store.rooms);
    const fresh = { version: 0, writtenAt: start, entries: [] };
    assert.deepEqual(await textSince(code, 0), { ...fresh, content: undefined });
    assert.deepEqual(await textSince(code), { ...fresh, content: '', lastRefs: [] });
    assert.deepEqual(await textSince(code, 1), { ...fresh, content: '', lastRefs: [] });
  });

  it('[SYNC-1] returns the whole text to a reader whose version was another text, which is lost', async () => {
    const code = await roomWith(entries, 1);
    for (const since of [2, 3, 4]) assert.equal((await textSince(code, since, start + 2)).content, 'abcd');
  });

  it('[LIVE-18] returns the log in parts', async () => {
    const code = await roomWith(entries, 1);
    const read = (since: number, limit: number) => store.texts.readEdits(code, since, limit, start);
    assert.deepEqual(await read(1, 2), entries.slice(1, 3));
    assert.deepEqual(await read(3, 2), entries.slice(3));
    assert.deepEqual(await read(1, 1000), entries.slice(1));
    assert.deepEqual(await read(4, 2), []);
    assert.deepEqual([await read(0, 2), await read(5, 2)], ['no-log', 'no-log']);
    await store.rooms.deleteRoom(code, start);
    assert.equal(await read(1, 2), 'gone');
  });

  it('[TEXT-7] leads any reader from its version to the current text', async () => {
    const code = await createRoom(store.rooms);
    const contents = [''];
    for (let version = 1; version <= 30; version++) {
      const content = `${version},${contents.at(-1)}`;
      const compaction = version % 7 === 0 ? { content, dropThrough: version - 5 } : undefined;
      await store.texts.appendText(code, textAppend(insertion(version, `${version},`), { compaction }));
      contents.push(content);
    }
    for (const [since, before] of contents.entries()) {
      const { content, entries } = await textSince(code, since);
      assert.equal(content ?? applyEntries(before, entries), contents.at(-1));
      assert.equal(content === undefined, since >= 23);
    }
  });
}
