/** The text of a room, its versions, and the sequence of a room's changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RoomStore } from '../../src/core/ports/rooms.ts';
import type { Content } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { anyText } from './any-text.ts';
import {
  accessAttempt,
  appendInsertion,
  createRoom,
  currentText,
  file,
  insertion,
  type OpenStore,
  quota,
  second,
  sharedStore,
  start,
  textAppend,
  textEntry,
  textOf,
  writeText,
} from './store-under-test.ts';

const MiB = 1024 * 1024;

export function contentTests(open: OpenStore): void {
  describe('text', () => textTests(open));
  describe('versions', () => versionTests(open));
  describe('the sequence of changes', () => sequenceTests(open));
}

const texts: Record<string, string> = {
  'the empty text': '',
  'a lone NUL': '\u0000',
  'NULs in the middle and at the end': 'before\u0000after\u0000\u0000',
  'emoji, joined ones and flags included': '👩‍👩‍👧‍👦 🏳️‍🌈 🇪🇺 👍🏽',
  'a byte order mark': '\uFEFFtext',
  'combining marks, without composing them': 'e\u0301 \u00e9',
  'every kind of line end': 'a\nb\r\nc\rd\u2028e\u2029f\u0085',
  'noncharacters and the last code point': '\uFFFE\uFFFF\u{10FFFF}',
  'what looks like SQL and JSON': `'); DROP TABLE rooms; -- {"a": "\\u0000"}`,
  'the name of a field': 'fileCount',
  'the name of another field': 'expiresAt',
  'a MiB of ASCII': 'a'.repeat(MiB),
  'a MiB of emoji': '😀'.repeat(MiB / 4),
  'a MiB of NUL': '\u0000'.repeat(MiB),
};

function textTests(open: OpenStore): void {
  const store = sharedStore(open);

  for (const [name, text] of Object.entries(texts)) {
    it(`[TEXT-1] returns ${name} unchanged`, async () => {
      const code = await createRoom(store.rooms);
      await writeText(store.texts, code, 'something before it');
      await store.rooms.admit(accessAttempt(code));
      await writeText(store.texts, code, text);
      await store.rooms.admit(accessAttempt(code));
      for (let reads = 0; reads < 3; reads++) {
        const read = await textOf(store.rooms, code, start);
        assert.ok(read?.content === text, 'the text that was read is not the one that was written');
        const state = await store.rooms.readState(code, start);
        assert.ok(typeof state === 'object' && state.text.content === text && state.room.fileCount === 0);
      }
    });
  }

  for (const [slow, numRuns] of [
    ['', 25],
    ['[slow] ', 100],
  ] as const) {
    it(`${slow}[TEXT-1] returns any of ${numRuns} well-formed texts unchanged`, async () => {
      const code = await createRoom(store.rooms);
      const comesBack = fc.asyncProperty(anyText(200), async (text) => {
        await writeText(store.texts, code, text);
        assert.equal((await textOf(store.rooms, code, start))?.content, text);
      });
      await fc.assert(comesBack, { seed: 1, numRuns });
    });
  }

  it('[TEXT-2] starts with the empty text, written when the room was created', async () => {
    const code = await createRoom(store.rooms);
    assert.deepEqual(await read(store.rooms, code), { content: '', version: 0, writtenAt: start });
  });

  it('[API-4] [API-5] keeps the last text and when it was written', async () => {
    const code = await createRoom(store.rooms);
    await writeText(store.texts, code, 'first');
    await writeText(store.texts, code, 'second', start + second);
    assert.deepEqual(await read(store.rooms, code), { content: 'second', version: 2, writtenAt: start + second });
  });

  it('keeps the texts of rooms apart', async () => {
    const [one, other] = [await createRoom(store.rooms), await createRoom(store.rooms)];
    await writeText(store.texts, one, 'one');
    await writeText(store.texts, other, 'other');
    assert.equal((await read(store.rooms, one)).content, 'one');
    assert.equal((await read(store.rooms, other)).content, 'other');
  });
}

function versionTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[TEXT-3] creates the next version with each write, including the same text', async () => {
    const code = await createRoom(store.rooms);
    for (const version of [1, 2, 3]) {
      assert.deepEqual(await writeText(store.texts, code, 'same'), { version, seq: version });
    }
    const withoutEdits = await store.texts.appendText(code, textAppend(textEntry(4)));
    assert.deepEqual(withoutEdits, { outcome: 'appended', seq: 4 });
    assert.deepEqual(await read(store.rooms, code), { content: 'same', version: 4, writtenAt: start });
  });

  it('[TEXT-4] [TEXT-7] changes nothing unless the version before it is the current one', async () => {
    const code = await createRoom(store.rooms);
    await writeText(store.texts, code, 'there\u0000', start + second);
    const current = { content: 'there\u0000', version: 1, writtenAt: start + second };
    for (const version of [1, 3, 4, 1000]) {
      const late = textAppend(textEntry(version, { edits: [{ from: 0, to: 0, insert: 'late' }] }), { content: 'late' });
      assert.equal((await store.texts.appendText(code, late)).outcome, 'stale');
      assert.deepEqual(await read(store.rooms, code), current);
    }
    const state = await store.rooms.readState(code, start);
    assert.ok(typeof state === 'object' && state.seq === 1);
  });

  it('[TEXT-4] [TEXT-7] accepts exactly one of 50 concurrent appends to the same version', async () => {
    const code = await createRoom(store.rooms);
    const appends = await Promise.all(
      Array.from({ length: 50 }, (_, n) => appendInsertion(store.texts, code, 1, `writer ${n}`)),
    );
    const winner = appends.findIndex(({ outcome }) => outcome === 'appended');
    const stale = { outcome: 'stale', version: 1, revision: 1, entries: [insertion(1, `writer ${winner}`)] };
    const others = appends.filter((_, n) => n !== winner);
    assert.deepEqual(
      others,
      others.map(() => stale),
    );
    assert.deepEqual(await read(store.rooms, code), { content: `writer ${winner}`, version: 1, writtenAt: start });
  });

  it('[slow] [TEXT-3] shows a text to every reader as soon as its write is acknowledged, with concurrent writes and reads', async () => {
    const code = await createRoom(store.rooms);
    const writeAndRead = async (writer: number) => {
      for (let n = 0; n < 20; n++) {
        await store.rooms.admit(accessAttempt(code));
        const written = await writeText(store.texts, code, `${writer} ${n}`);
        assert.ok(typeof written === 'object');
        const { content, version } = await read(store.rooms, code);
        assert.ok(version >= written.version, `read version ${version} after version ${written.version}`);
        if (version === written.version) assert.equal(content, `${writer} ${n}`);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, writer) => writeAndRead(writer)));
    assert.equal((await read(store.rooms, code)).version, 200);
  });

  it('[slow] [TEXT-3] gives each of 100 concurrent writes its own version, and keeps the last text', async () => {
    const code = await createRoom(store.rooms);
    const texts = Array.from({ length: 100 }, (_, n) => `text ${n}`);
    const writes = await Promise.all(texts.map((text) => writeText(store.texts, code, text)));
    const versions = writes.map((written) => (typeof written === 'object' ? written.version : 0));
    assert.deepEqual(
      versions.toSorted((a, b) => a - b),
      texts.map((_, n) => n + 1),
    );
    const { content, version } = await read(store.rooms, code);
    assert.equal(version, 100);
    assert.equal(content, texts[versions.indexOf(100)]);
  });
}

function sequenceTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('gives each change of a room the next number, whatever it changes', async () => {
    const code = await createRoom(store.rooms);
    const [one, other] = [file(), file()];
    const changes = [
      await writeText(store.texts, code, 'a'),
      await store.files.addFile(code, one, quota),
      await store.files.addFile(code, other, quota),
      await writeText(store.texts, code, 'b'),
      await store.files.removeFile(code, one.id, start),
      await store.files.restoreFile(code, one.id, start),
    ];
    assert.deepEqual(changes.map(seqOf), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(await store.rooms.deleteRoom(code, start), { seq: 7 });
  });

  it('gives no number to operations that change nothing', async () => {
    const code = await createRoom(store.rooms);
    await store.texts.appendText(code, textAppend(textEntry(5)));
    await store.files.removeFile(code, file().id, start);
    await store.files.addFile(code, file(), { files: 0, bytes: 0 });
    await store.texts.clearHistory(code, currentText('', 0), start);
    assert.equal(seqOf(await writeText(store.texts, code, 'a')), 1);
  });
}

function seqOf(change: object | string): number | undefined {
  return typeof change === 'object' && 'seq' in change ? (change.seq as number) : undefined;
}

async function read(rooms: RoomStore, code: RoomCode): Promise<Content> {
  const content = await textOf(rooms, code, start);
  assert.ok(content, 'the room should be there');
  return { ...content };
}
