/** The authority over texts when its store is slow, fails, or is written by another node. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLocalBus } from '../../src/bus/local.ts';
import { PoproomError } from '../../src/core/errors.ts';
import type { RoomChange } from '../../src/core/ports/rooms.ts';
import type { TextStore } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { createTexts } from '../../src/core/text/texts.ts';
import { createRoom, storedText } from '../contract/store-under-test.ts';
import { openStore, temporaryFolder } from '../store/open-sqlite.ts';
import { eventually } from '../support/eventually.ts';

const insert = (at: number, text: string) => ({ edits: [{ from: at, to: at, insert: text }] });

async function open(t: TestContext, change: (texts: TextStore) => Partial<TextStore> = () => ({})) {
  const store = await openStore(t, await temporaryFolder(t));
  const code = (await createRoom(store.rooms, { createdAt: Date.now(), expiresAt: Date.now() + 600_000 })) as RoomCode;
  const bus = createLocalBus();
  const changes: RoomChange[] = [];
  bus.subscribe(code, (change) => changes.push(change));
  const texts = { ...store.texts, ...change(store.texts) };
  const node = () => createTexts({ rooms: store.rooms, texts, bus, clock: Date.now }, { largestContent: 100_000 });
  const content = async () => (await storedText(store.texts, code, Date.now())).content.content;
  return { texts: store.texts, code, node, changes, content };
}

describe('the authority over texts', () => {
  it('[TEXT-10] stores the edits of two nodes that do not know each other, each once', async (t) => {
    const { code, node, content, changes } = await open(t);
    const [one, two] = [node(), node()];
    const writes = Array.from({ length: 40 }, (_, n) =>
      (n % 2 ? one : two).edit(code, { ...insert(0, `${n};`), baseVersion: 0, deviceId: `device-${n}` }),
    );
    const versions = (await Promise.all(writes)).map(({ version }) => version);
    assert.deepEqual(
      versions.toSorted((a, b) => a - b),
      Array.from({ length: 40 }, (_, n) => n + 1),
    );
    const text = await content();
    for (let n = 0; n < 40; n++) assert.ok(text.split(';').includes(`${n}`), `${n} in ${text}`);
    assert.equal(changes.length, 40);
  });

  it('[TEXT-4] relies on the store, not on its memory, for the current version', async (t) => {
    const { code, node, content } = await open(t);
    const [one, two] = [node(), node()];
    await one.replace(code, { content: 'a' });
    await two.replace(code, { content: 'b' });
    await one.replace(code, { content: 'c', ifVersions: [2] });
    assert.equal(await content(), 'c');
    await assert.rejects(two.replace(code, { content: 'd', ifVersions: [2] }), { code: 'VERSION_CONFLICT' });
    await two.edit(code, { ...insert(1, '!'), baseVersion: 3 });
    assert.equal(await content(), 'c!');
  });

  it('[TEXT-10] never stores an edit on top of a text that it was not made for', async (t) => {
    const { code, node, content } = await open(t);
    const [one, two] = [node(), node()];
    await one.replace(code, { content: 'Hello.' });
    await two.edit(code, { append: '' });
    // Each node sends several without waiting: those after one that came too late build on a text that was not stored.
    const sentences = ['A long sentence.', 'B.', 'Another sentence, longer.', 'D.', 'E!', 'Finally.'];
    await Promise.all(sentences.map((sentence, n) => (n % 2 ? one : two).edit(code, { append: ` [${sentence}]` })));
    const text = await content();
    for (const sentence of sentences) assert.ok(text.includes(` [${sentence}]`), `${sentence} in ${text}`);
    assert.equal(text.length, 'Hello.'.length + sentences.reduce((sum, { length }) => sum + length + 3, 0));
  });

  it('[TEXT-11] rejects no edit because of a text that was not stored', async (t) => {
    let held: Promise<void> | undefined;
    let isHeld = false;
    const { code, node, content } = await open(t, ({ appendText }) => ({
      async appendText(...args) {
        isHeld = held !== undefined;
        await held;
        return appendText(...args);
      },
    }));
    const [one, two] = [node(), node()];
    await one.replace(code, { content: 'Hello.' });
    await two.edit(code, { append: '!' });
    const { promise, resolve: release } = Promise.withResolvers<void>();
    held = promise;
    const late = two.edit(code, { append: '?' });
    await eventually('it is being stored', () => isHeld);
    held = undefined;
    await one.edit(code, { append: ' A longer sentence.' });
    // The device received version 3 from the first node. The second one has another version 3, which is shorter.
    const edit = two.edit(code, { ...insert(26, ' The end.'), baseVersion: 3, deviceId: 'phone', ref: 'r' });
    await setImmediate();
    release();
    await Promise.all([late, edit]);
    assert.equal((await content()).replace('?', ''), 'Hello.! A longer sentence. The end.');
    await assert.rejects(two.edit(code, { ...insert(99, 'x'), baseVersion: 5 }), { code: 'VALIDATION_FAILED' });
  });

  it('[TEXT-10] [TEXT-11] stores edits completely while others are rejected and the history is erased', async (t) => {
    const { code, node, content } = await open(t);
    const texts = node();
    await texts.replace(code, { content: 'Hello.' });
    const refused = () => texts.edit(code, { ...insert(0, 'x'), baseVersion: 1_000_000 });
    const late = () => texts.replace(code, { content: 'late', ifVersions: [0] });
    const words = Array.from({ length: 60 }, (_, n) => ` [word ${n}]`);
    const others = words.flatMap((_, n): Promise<unknown>[] =>
      n % 3 === 0 ? [refused(), late()] : n % 7 === 0 ? [texts.clearHistory(code)] : [],
    );
    const [stored] = await Promise.all([
      Promise.all(words.map((word) => texts.edit(code, { append: word }))),
      Promise.allSettled(others),
    ]);
    assert.equal(new Set(stored.map(({ version }) => version)).size, words.length);
    const text = await content();
    for (const word of words) assert.ok(text.includes(word), `${word} in ${text}`);
  });

  it('[TEXT-11] rejects an edit without reading the text again', async (t) => {
    const counts = { readText: 0 };
    const { code, node } = await open(t, ({ readText }) => ({
      readText(...args) {
        counts.readText += 1;
        return readText(...args);
      },
    }));
    const texts = node();
    await texts.replace(code, { content: 'x' });
    for (const baseVersion of [2, 9e9]) {
      await assert.rejects(texts.edit(code, { ...insert(0, 'y'), baseVersion }), { code: 'VERSION_CONFLICT' });
    }
    await assert.rejects(texts.replace(code, { content: 'z', ifVersions: [7] }), { code: 'VERSION_CONFLICT' });
    assert.equal(counts.readText, 1);
  });

  it('[TEXT-11] does not let one edit become larger than a client may send', async (t) => {
    const { code, node } = await open(t);
    const texts = node();
    await texts.replace(code, { content: 'x'.repeat(3000) });
    const spread = Array.from({ length: 900 }, (_, n) => ({ from: 3 * n, to: 3 * n, insert: 'y' }));
    await texts.edit(code, { edits: spread, baseVersion: undefined });
    await texts.edit(code, { edits: spread, baseVersion: undefined });
    const everything = [{ from: 0, to: 3000, insert: '' }];
    await assert.rejects(texts.edit(code, { edits: everything, baseVersion: 1 }), { code: 'VERSION_CONFLICT' });
  });

  it('[HIST-1] writes a large text at most once in five seconds for removals of a part of it', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const store = await open(t);
    const { code, node } = store;
    const texts = node();
    await texts.replace(code, { content: 'x'.repeat(90_000) });
    for (let n = 0; n < 10; n++) {
      await texts.edit(code, { edits: [{ from: 0, to: 1000, insert: 'y'.repeat(1000) }], baseVersion: undefined });
    }
    const history = await store.texts.listHistory(code, Date.now());
    assert.equal(Array.isArray(history) && history.length, 1);
  });

  it('[TEXT-6] continues after a failed write, and stores the edits that were sent after it', async (t) => {
    let failing = 2;
    const { code, node, content, changes } = await open(t, ({ appendText }) => ({
      async appendText(...args) {
        if (failing-- === 1) throw new PoproomError('STORAGE_FULL', 'The disk is full.');
        return appendText(...args);
      },
    }));
    const texts = node();
    const writes = ['a', 'b', 'c', 'd'].map((letter, n) =>
      texts.edit(code, { ...insert(0, letter), baseVersion: 0, deviceId: `${n}` }),
    );
    const outcomes = await Promise.allSettled(writes);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    );
    assert.equal(await content(), 'acd');
    assert.deepEqual(
      changes.map(({ entry }) => entry?.version),
      [1, 2, 3],
    );
  });

  it('[SYNC-3] [TEXT-6] does not acknowledge a repeated edit that may never be stored', async (t) => {
    const lost = new Error('the store is gone');
    const failing: { reject?: (error: Error) => void } = {};
    let calls = 0;
    const { code, node, content } = await open(t, (texts) => ({
      appendText(...append) {
        calls += 1;
        if (calls > 1) return texts.appendText(...append);
        return new Promise((_, reject) => {
          failing.reject = reject;
        });
      },
    }));
    const texts = node();
    const request = { ...insert(0, 'x'), baseVersion: 0, deviceId: 'phone', ref: 'r-1' };
    const first = texts.edit(code, request);
    const repeated = texts.edit(code, request);
    const fail = await eventually('the first one is being stored', () => failing.reject);
    fail(lost);
    await assert.rejects(first, lost);
    assert.equal((await repeated).version, 1);
    assert.deepEqual([calls, await content()], [2, 'x']);
  });

  it('[TEXT-10] [TEXT-8] rebases an edit over entries that are only in the store', async (t) => {
    const store = await open(t);
    const { code, node, content } = store;
    const [one, two] = [node(), node()];
    for (let n = 0; n < 2100; n++)
      await one.edit(code, { ...insert(n, 'x'), baseVersion: n, deviceId: 'a', ref: `r-${n}` });
    assert.equal(
      (await storedText(store.texts, code, Date.now())).entries.length,
      500,
      'the rest is read when it is needed',
    );
    const late = { ...insert(0, 'x'), baseVersion: 0, deviceId: 'a', ref: 'r-0' };
    assert.equal((await two.edit(code, late)).version, 1, 'an edit that was delayed is stored once');
    await two.edit(code, { ...insert(1, '!'), baseVersion: 1, deviceId: 'b' });
    assert.equal(await content(), `${'x'.repeat(2100)}!`);
  });

  it('[slow] [TEXT-8] keeps a bounded log, whatever is written', async (t) => {
    const store = await open(t);
    const { code, node, content } = store;
    const texts = node();
    let expected = '';
    for (let n = 0; n < 3100; n++) {
      const letter = String.fromCharCode(97 + (n % 26));
      // A text of some size, so that only the number of entries makes it store the full text.
      if (n === 0) expected = 'x'.repeat(90_000);
      else expected += letter;
      await texts.edit(code, {
        ...insert(n === 0 ? 0 : expected.length - 1, n === 0 ? expected : letter),
        baseVersion: n,
        deviceId: 'phone',
        ref: `${n}`,
      });
      if (n % 500 !== 499) continue;
      const { entries, fullTextVersion, content: current } = await storedText(store.texts, code, Date.now());
      assert.ok(entries.length <= 2500 && entries.length >= 500, `${entries.length} entries`);
      assert.ok(current.version - fullTextVersion <= 2000);
    }
    assert.equal(await content(), expected);
    const log = await store.texts.readEdits(code, 0, 4000, Date.now());
    assert.deepEqual(
      [log.length, log.at(-1)],
      [3100, (await storedText(store.texts, code, Date.now())).entries.at(-1)],
    );
  });

  it('[TEXT-8] bounds the log of large edits by their bytes', async (t) => {
    const store = await open(t);
    const { code, node } = store;
    const texts = node();
    const large = (n: number) => String.fromCharCode(97 + (n % 26)).repeat(90_000);
    for (let n = 0; n < 100; n++) {
      const edits = [{ from: 0, to: n === 0 ? 0 : 90_000, insert: large(n) }];
      await texts.edit(code, { edits, baseVersion: n, deviceId: 'phone', ref: `${n}` });
    }
    const { entries, logBytes } = await storedText(store.texts, code, Date.now());
    assert.ok(logBytes <= 8 * 1024 * 1024 && logBytes > 8_000_000, `${logBytes} bytes`);
    assert.ok(entries.length >= 88 && entries.length <= 93, `${entries.length} entries`);
    assert.equal(entries.at(-1)?.ref, '99', 'who sent it must recognise it');
  });

  it('[TEXT-8] does not store a large text twice if no client needs to recognise it', async (t) => {
    const store = await open(t);
    const { code, node, content } = store;
    const texts = node();
    for (let n = 0; n < 30; n++)
      await texts.replace(code, { content: String.fromCharCode(97 + (n % 26)).repeat(90_000) });
    const { entries, fullTextVersion } = await storedText(store.texts, code, Date.now());
    assert.deepEqual([entries, fullTextVersion], [[], 30]);
    await texts.edit(code, { ...insert(0, '!'), baseVersion: 30 });
    assert.equal((await content()).slice(0, 2), '!d');
    await assert.rejects(texts.edit(code, { ...insert(0, '!'), baseVersion: 29 }), { code: 'VERSION_CONFLICT' });
  });

  it('[TEXT-8] knows that the log is empty again after a large text', async (t) => {
    const searches: boolean[] = [];
    const { code, node, texts } = await open(t, ({ appendText }) => ({
      appendText: (room, append) => {
        searches.push(!append.compaction?.isLogEmpty);
        return appendText(room, append);
      },
    }));
    const own = node();
    // The second one is a log entry without edits.
    for (const letter of 'aabcd') await own.replace(code, { content: letter.repeat(90_000) });
    assert.deepEqual(searches, [false, true, true, false, false]);
    const { entries, logBytes, fullTextVersion } = await storedText(texts, code, Date.now());
    assert.deepEqual([entries, logBytes, fullTextVersion], [[], 0, 5]);
  });

  it('[TEXT-10] rebases many edits of a much older version', async (t) => {
    const { code, node, content } = await open(t);
    const texts = node();
    await texts.replace(code, { content: 'x'.repeat(2000) });
    for (let n = 0; n < 60; n++) await texts.edit(code, { ...insert(0, 'y'), baseVersion: undefined });
    const edits = Array.from({ length: 1000 }, (_, n) => ({ from: 2 * n, to: 2 * n + 1, insert: '' }));
    await texts.edit(code, { edits, baseVersion: 1 });
    assert.equal(await content(), 'y'.repeat(60) + 'x'.repeat(1000));
  });
});
