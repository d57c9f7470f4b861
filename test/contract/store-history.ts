/** Checkpoints of the text: kept within limits, listed, read and cleared. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Checkpoint, CheckpointInfo } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  appendInsertion,
  checkpoint,
  createRoom,
  currentText,
  draft,
  hour,
  keepCheckpoint,
  manyMisses,
  type OpenStore,
  ownStore,
  type RoomStores,
  second,
  sharedStore,
  start,
  storedText,
  textAppend,
  textEntry,
  unknownCode,
} from './store-under-test.ts';

const MiB = 1024 * 1024;

export function historyTests(open: OpenStore): void {
  describe('checkpoints', () => checkpointTests(open));
  describe('the limits of the history', () => limitTests(open));
  describe('the end of the history', () => endTests(open));
}

function checkpointTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[HIST-2] has no checkpoints in a new room', async () => {
    const code = await createRoom(store.rooms);
    assert.deepEqual(await store.texts.listHistory(code, start), []);
    assert.equal(await store.texts.readCheckpoint(code, 0, start), 'no-checkpoint');
    assert.equal((await storedText(store.texts, code)).checkpointVersion, 0);
  });

  it('[HIST-1] [HIST-2] keeps checkpoints, lists them newest first, and returns each', async () => {
    const code = await createRoom(store.rooms);
    const kept = [
      checkpoint(1, 'first\u0000', { deviceId: 'phone', writtenAt: start + 1 }),
      checkpoint(2, ''),
      checkpoint(3, '😀 "\\\r\n', { deviceId: 'laptop \u0000', writtenAt: start + second }),
    ];
    await appendInsertion(store.texts, code, 1, 'first\u0000');
    for (const one of kept) await keepCheckpoint(store.texts, code, one);
    assert.deepEqual(await store.texts.listHistory(code, start), kept.toReversed().map(infoOf));
    for (const one of kept) assert.deepEqual(await store.texts.readCheckpoint(code, one.version, start), one);
    assert.equal(await store.texts.readCheckpoint(code, 4, start), 'no-checkpoint');
    assert.equal((await storedText(store.texts, code)).checkpointVersion, 3);
  });

  it('[HIST-1] keeps a checkpoint in the same step as the edit, a compaction and the new text', async () => {
    const code = await createRoom(store.rooms);
    await appendInsertion(store.texts, code, 1, 'before');
    const limits = { checkpoints: 50, bytes: MiB };
    const append = textAppend(textEntry(2, { edits: [{ from: 0, to: 6, insert: 'after' }] }), {
      content: 'after',
      compaction: { content: 'after', dropThrough: 2 },
      checkpoint: { checkpoint: checkpoint(1, 'before'), limits },
    });
    const appended = await store.texts.appendText(code, append);
    assert.ok(appended.outcome === 'appended' && appended.seq === 2);
    assert.deepEqual(await store.texts.readCheckpoint(code, 1, start), checkpoint(1, 'before'));
    const { content, fullTextVersion, checkpointVersion } = await storedText(store.texts, code);
    assert.deepEqual([content.content, fullTextVersion, checkpointVersion], ['after', 2, 1]);
  });

  for (const [length, which] of [
    [3, 'a short'],
    [MiB, 'a long'],
  ] as const) {
    it(`[HIST-1] keeps ${which} full text that is replaced`, async () => {
      const code = await createRoom(store.rooms);
      const texts = ['', '😀\u0000a', 'é"b'].map((start) => start.padEnd(length, 'x'));
      const limits = { checkpoints: 50, bytes: 4 * MiB };
      const kept = [1, 2].map((version) => checkpoint(version, texts[version] ?? '', { deviceId: 'phone' }));
      for (const version of [1, 2, 3]) {
        const content = texts[version % 3] ?? '';
        const before = kept[version - 2];
        const append = textAppend(textEntry(version, { edits: [{ from: 0, to: 0, insert: '' }] }), {
          content,
          compaction: { content, dropThrough: version },
          checkpoint: before && { checkpoint: before, limits, isFullText: true },
        });
        assert.equal((await store.texts.appendText(code, append)).outcome, 'appended');
      }
      for (const one of kept) assert.deepEqual(await store.texts.readCheckpoint(code, one.version, start), one);
      assert.equal((await storedText(store.texts, code)).content.content, texts[0]);
    });
  }

  for (const isLastStale of [false, true]) {
    const last = isLastStale ? ', the last of which is rejected' : '';
    it(`[TEXT-6] [HIST-1] stores texts that are replaced at the same time${last}`, async () => {
      const code = await createRoom(store.rooms);
      const limits = { checkpoints: 50, bytes: MiB };
      const writes = [1, 2, 3, 4, 5].map((version) => {
        const content = `text ${version}`;
        const kept = { checkpoint: checkpoint(2, 'text 2'), limits, isFullText: true };
        return textAppend(textEntry(version, { edits: [{ from: 0, to: version > 1 ? 6 : 0, insert: content }] }), {
          ...(isLastStale && version === 5 && { previousRevision: 1 }),
          ...{ content, compaction: { content, dropThrough: version, isLogEmpty: true } },
          checkpoint: version === 3 ? kept : undefined,
        });
      });
      const outcomes = await Promise.all(writes.map((append) => store.texts.appendText(code, append)));
      const appended = outcomes.filter(({ outcome }) => outcome === 'appended').length;
      assert.equal(appended, isLastStale ? 4 : 5);
      const { content, fullTextVersion } = await storedText(store.texts, code);
      assert.deepEqual([content.content, content.version, fullTextVersion], [`text ${appended}`, appended, appended]);
      assert.deepEqual(await store.texts.readCheckpoint(code, 2, start), checkpoint(2, 'text 2'));
    });
  }

  it('[TEXT-6] numbers texts of two rooms that are replaced at the same time, some of them unchanged', async () => {
    const codes = [await createRoom(store.rooms), await createRoom(store.rooms)];
    const write = (version: number) => {
      const isUnchanged = version % 3 === 0;
      const content = `text ${isUnchanged ? version - 1 : version}`;
      const edits = isUnchanged ? [] : [{ from: 0, to: version > 1 ? 6 : 0, insert: content }];
      const compaction = { content, dropThrough: version, isLogEmpty: true, isUnchanged };
      return textAppend(textEntry(version, { edits, writtenAt: start + version }), { content, compaction });
    };
    const writes = [1, 2, 3, 4, 5, 6].flatMap((version) => codes.map((code) => ({ code, append: write(version) })));
    const [one] = codes as [RoomCode];
    const outcomes = await Promise.all([
      ...writes.map(({ code, append }) => store.texts.appendText(code, append)),
      // The first replaces another text, and the second the text of the first.
      store.texts.appendText(one, { ...write(7), previousRevision: 1 }),
      store.texts.appendText(one, write(8)),
    ]);
    const seqs = outcomes.map((outcome) => (outcome.outcome === 'appended' ? outcome.seq : outcome.outcome));
    assert.deepEqual(seqs, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 'stale', 'stale']);
    for (const code of codes) {
      const { content, entries } = await storedText(store.texts, code);
      assert.deepEqual([content, entries], [{ content: 'text 5', version: 6, writtenAt: start + 6 }, []]);
    }
  });

  it('[TEXT-6] [HIST-1] keeps a text that is written again unchanged', async () => {
    const code = await createRoom(store.rooms);
    const limits = { checkpoints: 50, bytes: MiB };
    for (const version of [1, 2, 3]) {
      const edits = version === 1 ? [{ from: 0, to: 0, insert: 'same' }] : [];
      const kept = { checkpoint: checkpoint(2, 'same'), limits, isFullText: true };
      const append = textAppend(textEntry(version, { edits, writtenAt: start + version }), {
        content: 'same',
        compaction: { content: 'same', dropThrough: version, isLogEmpty: true, isUnchanged: version > 1 },
        checkpoint: version === 3 ? kept : undefined,
      });
      assert.equal((await store.texts.appendText(code, append)).outcome, 'appended');
      const { content, entries } = await storedText(store.texts, code);
      assert.deepEqual([content, entries], [{ content: 'same', version, writtenAt: start + version }, []]);
    }
    assert.deepEqual(await store.texts.readCheckpoint(code, 2, start), checkpoint(2, 'same'));

    await appendInsertion(store.texts, code, 4, 'not the ');
    const { content, entries } = await storedText(store.texts, code);
    assert.deepEqual([content.content, entries.map(({ version }) => version)], ['not the same', [4]]);
    assert.equal(await store.texts.readEdits(code, 2, 10, start), 'no-log');
  });

  it('[HIST-1] [HIST-2] returns a checkpoint of a MiB', async () => {
    const code = await createRoom(store.rooms);
    const content = '\u0000é'.repeat(MiB / 3);
    await keepCheckpoint(store.texts, code, checkpoint(0, content));
    const read = await store.texts.readCheckpoint(code, 0, start);
    assert.ok(typeof read === 'object' && read.content === content && read.size === MiB - 1);
  });

  it('keeps the histories of rooms apart', async () => {
    const [one, other] = [await createRoom(store.rooms), await createRoom(store.rooms)];
    await keepCheckpoint(store.texts, one, checkpoint(0, 'one'));
    await keepCheckpoint(store.texts, other, checkpoint(0, 'other'));
    assert.equal(await clearAll(store, other), 'cleared');
    assert.deepEqual(await store.texts.readCheckpoint(one, 0, start), checkpoint(0, 'one'));
    assert.equal(await store.texts.readCheckpoint(other, 0, start), 'no-checkpoint');
  });
}

function limitTests(open: OpenStore): void {
  const store = sharedStore(open);

  const versionsIn = async (code: RoomCode) => {
    const history = await store.texts.listHistory(code, start);
    assert.ok(typeof history === 'object');
    return history.map(({ version }) => version);
  };

  it('[HIST-1] drops the oldest checkpoints over the maximum number', async () => {
    const code = await createRoom(store.rooms);
    for (let version = 0; version < 15; version++) {
      const limits = { checkpoints: version < 12 ? 10 : 3, bytes: MiB };
      await keepCheckpoint(store.texts, code, checkpoint(version, `${version}`), limits);
      if (version === 11) assert.deepEqual(await versionsIn(code), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    }
    assert.deepEqual(await versionsIn(code), [14, 13, 12]);
    assert.equal(await store.texts.readCheckpoint(code, 11, start), 'no-checkpoint');
  });

  it('[HIST-1] drops the oldest checkpoints over the maximum bytes', async () => {
    const code = await createRoom(store.rooms);
    const limits = { checkpoints: 50, bytes: 10 };
    const sizes = [4, 4, 2, 1, 9, 1, 1];
    const expected = [[0], [1, 0], [2, 1, 0], [3, 2, 1], [4, 3], [5, 4], [6, 5]];
    for (const [version, size] of sizes.entries()) {
      await keepCheckpoint(store.texts, code, checkpoint(version, 'x'.repeat(size)), limits);
      assert.deepEqual(await versionsIn(code), expected[version], `after version ${version}`);
    }
  });

  it('[HIST-1] counts bytes, not characters', async () => {
    const code = await createRoom(store.rooms);
    const limits = { checkpoints: 50, bytes: 10 };
    for (const version of [0, 1, 2]) await keepCheckpoint(store.texts, code, checkpoint(version, '😀'), limits);
    assert.deepEqual(await versionsIn(code), [2, 1]);
  });

  it('[HIST-1] keeps the newest checkpoint whatever its size', async () => {
    const code = await createRoom(store.rooms);
    const limits = { checkpoints: 50, bytes: 10 };
    await keepCheckpoint(store.texts, code, checkpoint(0, 'x'), limits);
    await keepCheckpoint(store.texts, code, checkpoint(1, 'x'.repeat(11)), limits);
    assert.deepEqual(await versionsIn(code), [1]);
    await keepCheckpoint(store.texts, code, checkpoint(2, ''), limits);
    assert.deepEqual(await versionsIn(code), [2]);
  });
}

function endTests(open: OpenStore): void {
  const store = sharedStore(open, manyMisses);

  it('[HIST-3] clears the history and the log, and keeps the text', async () => {
    const code = await createRoom(store.rooms);
    await appendInsertion(store.texts, code, 1, 'text');
    await keepCheckpoint(store.texts, code, checkpoint(1, 'text'));
    const { content, revision } = await storedText(store.texts, code);
    const { version } = content;
    assert.equal(await clearAll(store, code), 'cleared');
    assert.deepEqual(await store.texts.listHistory(code, start), []);
    assert.equal(await store.texts.readCheckpoint(code, 1, start), 'no-checkpoint');
    const after = await storedText(store.texts, code);
    const cleared = {
      entries: [],
      logBytes: 0,
      lastRefs: [],
      fullTextVersion: version,
      checkpointVersion: 0,
      keepsHistory: true,
    };
    assert.deepEqual(after, { content, revision, ...cleared });
    assert.equal((await appendInsertion(store.texts, code, version + 1, 'more ')).outcome, 'appended');
    assert.equal((await storedText(store.texts, code)).content.content, `more ${content.content}`);
  });

  it('[HIST-3] clears nothing if the text has changed since', async () => {
    const code = await createRoom(store.rooms);
    await appendInsertion(store.texts, code, 1, 'text');
    await keepCheckpoint(store.texts, code, checkpoint(1, 'text'));
    const stored = await storedText(store.texts, code);
    const { content, version } = stored.content;
    const others = [currentText(content, version - 1), { ...currentText(content, version), revision: 7 }];
    for (const other of others) assert.equal(await store.texts.clearHistory(code, other, start), 'stale');
    assert.deepEqual(await storedText(store.texts, code), stored);
  });

  it('[HIST-3] clears an empty history, and keeps checkpoints again afterwards', async () => {
    const code = await createRoom(store.rooms);
    assert.equal(await clearAll(store, code), 'cleared');
    await keepCheckpoint(store.texts, code, checkpoint(0, ''));
    assert.equal(await clearAll(store, code), 'cleared');
    await keepCheckpoint(store.texts, code, checkpoint(1, 'again'));
    assert.deepEqual(await store.texts.listHistory(code, start), [infoOf(checkpoint(1, 'again'))]);
  });

  it('[LIFE-4] [HIST-1] ends with a room that is deleted', async () => {
    const made = draft();
    const code = await createRoom(store.rooms, made);
    await keepCheckpoint(store.texts, code, checkpoint(0, 'kept'));
    await store.rooms.deleteRoom(code, start);
    assert.equal(await store.texts.listHistory(code, start), 'gone');
    assert.equal(await store.texts.readCheckpoint(code, 0, start), 'gone');
    assert.equal(await store.texts.clearHistory(code, currentText('', 0), start), 'gone');
    await createRoom(store.rooms, { draw: made.draw });
    assert.deepEqual(await store.texts.listHistory(code, start), []);
    assert.equal(await store.texts.readCheckpoint(code, 0, start), 'no-checkpoint');
  });

  it('[LIFE-2] [LIFE-5] [HIST-1] ends with a room that expires, swept or not', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const code = await createRoom(rooms, { expiresAt: start + hour });
    await keepCheckpoint(store.texts, code, checkpoint(0, 'kept'));
    assert.equal(await store.texts.listHistory(code, start + hour), 'expired');
    await rooms.expireRooms(start + hour, 100);
    assert.equal(await store.texts.listHistory(code, start + hour), 'expired');
    assert.equal(await store.texts.readCheckpoint(code, 0, start + hour), 'expired');
    assert.equal(await store.texts.clearHistory(code, currentText('', 0), start + hour), 'expired');
  });

  it('does not exist for a room that never existed', async () => {
    const code = unknownCode();
    assert.equal(await store.texts.listHistory(code, start), 'gone');
    assert.equal(await store.texts.readCheckpoint(code, 0, start), 'gone');
    assert.equal(await store.texts.clearHistory(code, currentText('', 0), start), 'gone');
  });
}

async function clearAll(store: RoomStores, code: RoomCode): Promise<string> {
  const { content } = await storedText(store.texts, code);
  return store.texts.clearHistory(code, currentText(content.content, content.version), start);
}

const infoOf = ({ content, ...info }: Checkpoint): CheckpointInfo => info;
