/** The text of a room, its versions, and the sequence of a room's changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Content, RoomStore } from '../../src/core/ports.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { anyText } from './any-text.ts';
import {
  file,
  makeRoom,
  type OpenStore,
  quota,
  second,
  sharedStore,
  start,
  textOf,
  visit,
  write,
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
    it(`[TEXT-1] gives back ${name}`, async () => {
      const code = await makeRoom(store.rooms);
      await store.rooms.writeContent(code, write('something before it'));
      await store.rooms.admit(visit(code));
      await store.rooms.writeContent(code, write(text));
      await store.rooms.admit(visit(code));
      for (let reads = 0; reads < 3; reads++) {
        const read = await textOf(store.rooms, code, start);
        assert.ok(read?.content === text, 'the text that was read is not the one that was written');
        const state = await store.rooms.readState(code, start);
        assert.ok(typeof state === 'object' && state.content.content === text && state.room.fileCount === 0);
      }
    });
  }

  it('[TEXT-1] gives back any well-formed text', async () => {
    const code = await makeRoom(store.rooms);
    const comesBack = fc.asyncProperty(anyText(200), async (text) => {
      await store.rooms.writeContent(code, write(text));
      assert.equal((await textOf(store.rooms, code, start))?.content, text);
    });
    await fc.assert(comesBack, { seed: 1, numRuns: 100 });
  });

  it('[TEXT-2] begins with the empty text, written when the room was made', async () => {
    const code = await makeRoom(store.rooms);
    assert.deepEqual(await read(store.rooms, code), { content: '', version: 0, writtenAt: start });
  });

  it('[API-4] [API-5] keeps the last text and when it was written', async () => {
    const code = await makeRoom(store.rooms);
    await store.rooms.writeContent(code, write('first'));
    await store.rooms.writeContent(code, write('second', undefined, start + second));
    assert.deepEqual(await read(store.rooms, code), { content: 'second', version: 2, writtenAt: start + second });
  });

  it('keeps the texts of rooms apart', async () => {
    const [one, other] = [await makeRoom(store.rooms), await makeRoom(store.rooms)];
    await store.rooms.writeContent(one, write('one'));
    await store.rooms.writeContent(other, write('other'));
    assert.equal((await read(store.rooms, one)).content, 'one');
    assert.equal((await read(store.rooms, other)).content, 'other');
  });
}

function versionTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[TEXT-3] makes the next version with each write, the same text included', async () => {
    const code = await makeRoom(store.rooms);
    for (const version of [1, 2, 3]) {
      const written = await store.rooms.writeContent(code, write('same'));
      assert.deepEqual(written, { outcome: 'written', version, seq: version });
    }
  });

  it('[TEXT-4] writes when the present version is one of those named', async () => {
    const code = await makeRoom(store.rooms);
    assert.equal((await store.rooms.writeContent(code, write('a', [0]))).outcome, 'written');
    assert.equal((await store.rooms.writeContent(code, write('b', [7, 1, 9]))).outcome, 'written');
    assert.deepEqual(await read(store.rooms, code), { content: 'b', version: 2, writtenAt: start });
  });

  it('[TEXT-4] changes nothing otherwise, and tells what is there', async () => {
    const code = await makeRoom(store.rooms);
    await store.rooms.writeContent(code, write('there\u0000', undefined, start + second));
    const current = { content: 'there\u0000', version: 1, writtenAt: start + second };
    for (const ifVersions of [[0], [2], [0, 2, 3], []]) {
      const conflict = await store.rooms.writeContent(code, write('late', ifVersions, start + 2 * second));
      assert.deepEqual(conflict, { outcome: 'conflict', current });
    }
    assert.deepEqual(await read(store.rooms, code), current);
  });

  it('[TEXT-4] lets exactly one of 50 writes win that name the same version at once', async () => {
    const code = await makeRoom(store.rooms);
    const writes = await Promise.all(
      Array.from({ length: 50 }, (_, n) => store.rooms.writeContent(code, write(`writer ${n}`, [0]))),
    );
    const winner = writes.findIndex(({ outcome }) => outcome === 'written');
    const current = { content: `writer ${winner}`, version: 1, writtenAt: start };
    const others = writes.filter((_, n) => n !== winner);
    assert.deepEqual(
      others,
      others.map(() => ({ outcome: 'conflict', current })),
    );
    assert.deepEqual(await read(store.rooms, code), current);
  });

  it('[TEXT-3] shows a text to everyone as soon as its write is answered, while others write and look', async () => {
    const code = await makeRoom(store.rooms);
    const writeAndRead = async (writer: number) => {
      for (let n = 0; n < 20; n++) {
        await store.rooms.admit(visit(code));
        const written = await store.rooms.writeContent(code, write(`${writer} ${n}`));
        assert.ok(written.outcome === 'written');
        const { content, version } = await read(store.rooms, code);
        assert.ok(version >= written.version, `read version ${version} after version ${written.version}`);
        if (version === written.version) assert.equal(content, `${writer} ${n}`);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, writer) => writeAndRead(writer)));
    assert.equal((await read(store.rooms, code)).version, 200);
  });

  it('[TEXT-3] gives each of 100 writes at once a version of its own, and keeps the text of the last', async () => {
    const code = await makeRoom(store.rooms);
    const texts = Array.from({ length: 100 }, (_, n) => `text ${n}`);
    const writes = await Promise.all(texts.map((text) => store.rooms.writeContent(code, write(text))));
    const versions = writes.map((written) => (written.outcome === 'written' ? written.version : 0));
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
    const code = await makeRoom(store.rooms);
    const [one, other] = [file(), file()];
    const changes = [
      await store.rooms.writeContent(code, write('a')),
      await store.rooms.addFile(code, one, quota),
      await store.rooms.addFile(code, other, quota),
      await store.rooms.writeContent(code, write('b')),
      await store.rooms.removeFile(code, one.id, start),
    ];
    assert.deepEqual(changes.map(seqOf), [1, 2, 3, 4, 5]);
    assert.deepEqual(await store.rooms.deleteRoom(code, start), { seq: 6 });
  });

  it('gives no number to what changes nothing', async () => {
    const code = await makeRoom(store.rooms);
    await store.rooms.writeContent(code, write('late', [5]));
    await store.rooms.removeFile(code, file().id, start);
    await store.rooms.addFile(code, file(), { files: 0, bytes: 0 });
    assert.equal(seqOf(await store.rooms.writeContent(code, write('a'))), 1);
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
