/** The text as a log of edits: appends, and stale appends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RoomCode } from '../../src/core/room-code.ts';
import { anyEdits, editsOf } from './any-text.ts';
import {
  accessAttempt,
  appendInsertion,
  applyEntries,
  comparableText,
  createRoom,
  draft,
  insertion,
  type OpenStore,
  second,
  sharedStore,
  start,
  storedText,
  textAppend,
  textEntry,
  textOf,
} from './store-under-test.ts';

const MiB = 1024 * 1024;

export function logTests(open: OpenStore): void {
  describe('appending', () => appendTests(open));
  describe('stale appends', () => staleTests(open));
}

function appendTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[TEXT-7] starts with an empty log', async () => {
    const code = await createRoom(store.rooms);
    assert.deepEqual(await storedText(store.texts, code), {
      content: { content: '', version: 0, writtenAt: start },
      entries: [],
      logBytes: 0,
      lastRefs: [],
      revision: 0,
      fullTextVersion: 0,
      checkpointVersion: 0,
      keepsHistory: true,
    });
  });

  it('[TEXT-7] keeps entries as they were appended, and applies them in order', async () => {
    const code = await createRoom(store.rooms, { keepsHistory: false });
    const entries = [
      insertion(1, 'hello world', { deviceId: 'phone', ref: 'a1' }),
      textEntry(2, { edits: [], writtenAt: start + 1, ref: '' }),
      textEntry(3, {
        edits: [
          { from: 0, to: 1, insert: 'J\u0000' },
          { from: 5, to: 5, insert: ',\r\n"\\👍' },
          { from: 6, to: 11, insert: '' },
        ],
        deviceId: 'laptop \u0000"',
        writtenAt: start + second,
      }),
    ];
    for (const [n, entry] of entries.entries()) {
      assert.deepEqual(await store.texts.appendText(code, textAppend(entry)), { outcome: 'appended', seq: n + 1 });
    }
    const content = { content: 'J\u0000ello,\r\n"\\👍 ', version: 3, writtenAt: start + second };
    const lastRefs = [{ deviceId: 'phone', ref: 'a1', version: 1, writtenAt: start }];
    const full = { revision: 3, fullTextVersion: 0, checkpointVersion: 0, keepsHistory: false };
    assert.deepEqual(await comparableText(store.texts, code), { content, entries, lastRefs, ...full });
    assert.deepEqual({ ...(await textOf(store.rooms, code)) }, content);
  });

  for (const [slow, numRuns] of [
    ['', 40],
    ['[slow] ', 150],
  ] as const) {
    it(`${slow}[TEXT-1] [TEXT-7] returns any well-formed text that ${numRuns} edits produce, with and without the new text in the append`, async () => {
      const code = await createRoom(store.rooms);
      let [text, version] = ['', 0];
      const readsBack = fc.asyncProperty(anyEdits, fc.boolean(), async (drawn, hasContent) => {
        const edits = editsOf(drawn, text);
        version += 1;
        text = applyEntries(text, [textEntry(version, { edits })]);
        const content = hasContent ? text : undefined;
        await store.texts.appendText(code, textAppend(textEntry(version, { edits }), { content }));
        assert.equal((await textOf(store.rooms, code))?.content, text);
      });
      await fc.assert(readsBack, { seed: 1, numRuns, endOnFailure: true });
      const { content, entries } = await storedText(store.texts, code);
      assert.deepEqual([content.content, applyEntries('', entries)], [text, text]);
    });
  }

  it('[TEXT-7] appends a long edit to a long text', async () => {
    const code = await createRoom(store.rooms);
    const [long, longer] = ['\u0000'.repeat(MiB / 2), '😀'.repeat(MiB / 8)];
    await appendInsertion(store.texts, code, 1, long);
    await appendInsertion(store.texts, code, 2, longer);
    assert.ok((await textOf(store.rooms, code))?.content === longer + long);
    assert.ok((await storedText(store.texts, code)).content.content === longer + long);
  });

  it('[TEXT-7] appends 100 entries that were sent without waiting, each to the previous version', async () => {
    const code = await createRoom(store.rooms);
    const letters = Array.from({ length: 100 }, (_, n) => String.fromCodePoint(0x1f600 + n));
    const outcomes = await Promise.all(letters.map((letter, n) => appendInsertion(store.texts, code, n + 1, letter)));
    assert.deepEqual(
      outcomes,
      letters.map((_, n) => ({ outcome: 'appended', seq: n + 1 })),
    );
    assert.equal((await textOf(store.rooms, code))?.content, letters.toReversed().join(''));
  });

  it('[TEXT-6] shows each of many pending appends to reads that follow its acknowledgement', async () => {
    const code = await createRoom(store.rooms);
    const appendAndRead = async (n: number) => {
      // Some name the text after them and some do not: a store that caches must not mix them up.
      const content = n % 3 === 0 ? undefined : 'a'.repeat(n);
      await store.texts.appendText(code, textAppend(insertion(n, 'a'), { content }));
      await store.rooms.admit(accessAttempt(code));
      const { content: text, version } = (await textOf(store.rooms, code)) ?? { content: '', version: 0 };
      assert.ok(version >= n, `read version ${version} after version ${n}`);
      assert.equal(text.length, version);
    };
    await Promise.all(Array.from({ length: 100 }, (_, n) => appendAndRead(n + 1)));
  });

  it('keeps the logs of rooms apart', async () => {
    const [one, other] = [await createRoom(store.rooms), await createRoom(store.rooms)];
    await appendInsertion(store.texts, one, 1, 'one');
    await appendInsertion(store.texts, other, 1, 'other');
    assert.deepEqual((await storedText(store.texts, one)).entries, [insertion(1, 'one')]);
    assert.deepEqual((await storedText(store.texts, other)).entries, [insertion(1, 'other')]);
  });

  it('[LIFE-4] starts with an empty log in a room that has the code of a deleted one', async () => {
    const made = draft();
    const code = await createRoom(store.rooms, made);
    await appendInsertion(store.texts, code, 1, 'deleted');
    await textOf(store.rooms, code);
    await store.rooms.deleteRoom(code, start);
    await createRoom(store.rooms, { draw: made.draw });
    const { content, entries, fullTextVersion } = await storedText(store.texts, code);
    assert.deepEqual([content.content, content.version, entries, fullTextVersion], ['', 0, [], 0]);
    assert.equal((await textOf(store.rooms, code))?.content, '');
  });
}

function staleTests(open: OpenStore): void {
  const store = sharedStore(open);
  const entries = [insertion(1, 'c', { deviceId: 'phone', ref: 'r' }), insertion(2, 'b'), insertion(3, 'a')] as const;

  /** A room whose log has the entries after `trimmedThrough`. */
  async function roomAtVersion3(trimmedThrough = 0): Promise<RoomCode> {
    const code = await createRoom(store.rooms);
    for (const entry of entries.slice(0, 2)) await store.texts.appendText(code, textAppend(entry));
    const compaction = trimmedThrough > 0 ? { content: 'abc', dropThrough: trimmedThrough } : undefined;
    await store.texts.appendText(code, textAppend(entries[2], { compaction }));
    return code;
  }

  const appendLate = (code: RoomCode, version: number) => appendInsertion(store.texts, code, version, 'late');

  it('[TEXT-7] return the entries since the expected version', async () => {
    const code = await roomAtVersion3();
    for (const version of [1, 2, 3]) {
      const stale = { outcome: 'stale', version: 3, revision: 3, entries: entries.slice(version - 1) };
      assert.deepEqual(await appendLate(code, version), stale);
    }
  });

  it('[TEXT-7] return no entries if the log no longer has all of them', async () => {
    const code = await roomAtVersion3(2);
    const withoutEntries = { outcome: 'stale', version: 3, revision: 3, entries: undefined };
    assert.deepEqual(await appendLate(code, 1), withoutEntries);
    assert.deepEqual(await appendLate(code, 2), withoutEntries);
    assert.deepEqual(await appendLate(code, 3), { ...withoutEntries, entries: [entries[2]] });
    assert.deepEqual(await appendLate(await roomAtVersion3(3), 3), withoutEntries);
  });

  it('[TEXT-7] include those for a text that has the version, but was never stored', async () => {
    const code = await roomAtVersion3();
    const entry = insertion(4, 'for another text');
    const outcome = await store.texts.appendText(code, textAppend(entry, { previousRevision: 1234 }));
    assert.deepEqual(outcome, { outcome: 'stale', version: 3, revision: 3, entries: [] });
    assert.equal((await storedText(store.texts, code)).content.version, 3);
  });

  it('[TEXT-7] return no entries if the expected version does not exist yet', async () => {
    const code = await roomAtVersion3();
    const stale = { outcome: 'stale', version: 3, revision: 3, entries: undefined };
    assert.deepEqual(await appendLate(code, 5), stale);
    assert.deepEqual(await appendLate(code, 1000), stale);
    assert.deepEqual(await appendLate(await createRoom(store.rooms), 2), { ...stale, version: 0, revision: 0 });
  });

  it('[TEXT-7] [TEXT-8] [HIST-1] change nothing: neither text nor log, full text or history', async () => {
    const code = await roomAtVersion3();
    const before = await storedText(store.texts, code);
    const late = textAppend(insertion(3, 'late'), {
      content: 'late',
      compaction: { content: 'late', dropThrough: 3 },
      checkpoint: {
        checkpoint: { version: 2, content: 'bc', size: 2, writtenAt: start, deviceId: undefined },
        limits: { checkpoints: 50, bytes: MiB },
      },
    });
    assert.equal((await store.texts.appendText(code, late)).outcome, 'stale');
    assert.deepEqual(await storedText(store.texts, code), before);
    assert.equal((await textOf(store.rooms, code))?.content, 'abc');
    assert.deepEqual(await store.texts.listHistory(code, start), []);
  });
}
