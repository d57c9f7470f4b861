/** The text of a room on one device, with its network and its clock in the hands of the test. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { PoproomError, type WriteAnswer } from '../../src/client/index.ts';
import { createSharedText, type Draft } from '../../web/src/room/shared-text.ts';

describe('the shared text', () => {
  it('[PAGE-7] is sent after a pause, in one piece, and is saved when it is answered', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'hello');
    text.edit('hello w');
    assert.equal(text.status.value, 'sending');
    await pass(100);
    text.edit('hello wo');
    await pass(249);
    assert.equal(sent.length, 0);
    await pass(1);
    assert.deepEqual(contentsOf(sent), ['hello wo']);
    assert.equal(text.status.value, 'sending');
    sent[0]?.written();
    await settled();
    assert.equal(text.status.value, 'saved');
  });

  it('[PAGE-7] is sent within a second, however long someone types without a pause', async (t) => {
    const { text, sent, pass } = await deviceWith(t, '');
    for (let typed = 1; typed <= 12; typed++) {
      text.edit('x'.repeat(typed));
      await pass(100);
    }
    assert.equal(sent.length, 1);
  });

  it('[PAGE-7] goes on with what was typed while an answer was awaited', async (t) => {
    const { text, sent, pass } = await deviceWith(t, '');
    text.edit('one');
    await pass(250);
    text.edit('one two');
    await pass(2_000);
    assert.equal(sent.length, 1, 'one at a time');
    sent[0]?.written();
    await settled();
    await pass(250);
    assert.deepEqual(contentsOf(sent), ['one', 'one two']);
    assert.equal(sent[1]?.baseVersion, 2);
  });

  it('[PAGE-8] answered by a conflict is merged, shown, and sent again', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'top\nbottom\n');
    text.edit('top, mine\nbottom\n');
    await pass(250);
    sent[0]?.conflict('top\nbottom, theirs\n');
    await settled();
    assert.equal(text.value.value, 'top, mine\nbottom, theirs\n');
    await pass(250);
    assert.equal(sent[1]?.content, 'top, mine\nbottom, theirs\n');
    assert.equal(sent[1]?.baseVersion, 2);
  });

  it('[PAGE-8] keeps the words that collided, until they are waved away', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'the quick fox');
    text.edit('the slow fox');
    await pass(250);
    sent[0]?.conflict('the red fox');
    await settled();
    assert.equal(text.value.value, 'the red fox');
    assert.deepEqual(text.unplaced.value, ['the slow fox']);
    assert.equal(text.status.value, 'saved');
  });

  it('[PAGE-8] merges what comes while an answer is awaited, whichever way that turns out', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'a\nb\n');
    text.edit('a\nb\nmine\n');
    await pass(250);
    text.receive({ content: 'theirs\na\nb\nmine\n', version: 3 });
    sent[0]?.written();
    await settled();
    assert.equal(text.value.value, 'theirs\na\nb\nmine\n');
    assert.equal(text.status.value, 'saved');
  });

  it('[PAGE-15] that was stored, though its answer was lost, is not doubled', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'list:');
    text.edit('list: milk');
    await pass(250);
    text.edit('list: milk bread');
    sent[0]?.lost();
    text.online(false);
    await settled();
    text.online(true);
    text.receive({ content: 'list: milk', version: 2 });
    assert.equal(text.value.value, 'list: milk bread');
  });

  it('[PAGE-15] that was stored, and built on by another, is not doubled', async (t) => {
    const { text, sent, pass } = await deviceWith(t, '');
    text.edit('milk');
    await pass(250);
    sent[0]?.lost();
    text.online(false);
    await settled();
    text.online(true);
    text.receive({ content: 'milk and eggs', version: 3 });
    assert.equal(text.value.value, 'milk and eggs');
  });

  for (const code of ['UNAVAILABLE', 'INTERNAL'] as const) {
    it(`[PAGE-15] that was stored, though the server answered ${code}, does not collide with itself`, async (t) => {
      const { text, sent, pass } = await deviceWith(t, 'one bird');
      text.edit('one cats');
      await pass(250);
      text.edit('one cats and dogs');
      sent[0]?.fail(new PoproomError(code, 'A store does not answer.'));
      text.online(false);
      await settled();
      text.online(true);
      text.receive({ content: 'one cats', version: 2 });
      assert.equal(text.value.value, 'one cats and dogs');
      assert.deepEqual(text.unplaced.value, []);
    });
  }

  it('[PAGE-15] that was stored after all, as a conflict tells, does not collide with itself', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'one two');
    text.edit('one cats two');
    await pass(250);
    sent[0]?.lost();
    text.online(false);
    await settled();
    text.online(true);
    text.receive({ content: 'one two', version: 1 });
    text.edit('one dogs two');
    await pass(250);
    sent[1]?.conflict('one cats two');
    await settled();
    assert.equal(text.value.value, 'one dogs two');
    assert.deepEqual(text.unplaced.value, []);
  });

  it('[PAGE-15] that was not stored is not taken for stored because another wrote something alike', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'list:');
    text.edit('list: milk');
    await pass(250);
    sent[0]?.lost();
    text.online(false);
    await settled();
    text.online(true);
    text.receive({ content: 'list: eggs', version: 3 });
    assert.match(`${text.value.value} ${text.unplaced.value}`, /milk/);
    assert.match(text.value.value, /eggs/);
  });

  it('[PAGE-8] forgets about a lost answer when a later write was answered', async (t) => {
    const { text, sent, pass } = await deviceWith(t, '');
    text.edit('hello');
    await pass(250);
    sent[0]?.lost();
    text.online(false);
    await settled();
    text.online(true);
    text.edit('hello world');
    await pass(250);
    sent[1]?.written();
    await settled();
    text.receive({ content: 'hello', version: 3 });
    assert.equal(text.value.value, 'hello', 'what another device removed stays removed');
  });

  it('[PAGE-7] is what the server has, also where that came back without its last writes', async (t) => {
    const { text } = await deviceWith(t, 'one\n');
    text.receive({ content: 'one\ntwo\n', version: 7 });
    text.online(false);
    text.edit('mine\none\ntwo\n');
    text.online(true);
    text.begin({ content: 'one\n', version: 5 });
    assert.equal(text.value.value, 'mine\none\n');
    text.receive({ content: 'one, again\n', version: 6 });
    assert.equal(text.value.value, 'mine\none, again\n');
    assert.deepEqual(text.unplaced.value, []);
  });

  it('[PAGE-7] is what the server has, also where others wrote as much again as it had lost', async (t) => {
    const { text } = await deviceWith(t, 'one');
    text.online(false);
    text.online(true);
    text.begin({ content: 'two', version: 1 });
    assert.equal(text.value.value, 'two');
    assert.equal(text.status.value, 'saved');
  });

  it('[PAGE-8] that the server had stored and then lost is shown by the device that wrote it', async (t) => {
    const { text, sent, pass } = await deviceWith(t, 'one');
    text.edit('one two');
    await pass(250);
    sent[0]?.written();
    await settled();
    text.online(false);
    text.online(true);
    text.begin({ content: 'one', version: 1 });
    assert.equal(text.value.value, 'one');
    assert.deepEqual(text.unplaced.value, ['one two']);
  });

  it('[PAGE-15] is kept as a draft while it is not saved, and is sent by the next page', async (t) => {
    const drafts = draftsInMemory();
    const before = await deviceWith(t, 'base', { drafts });
    before.text.online(false);
    before.text.edit('base and mine');
    assert.equal(before.text.status.value, 'offline');
    await before.pass(5_000);
    assert.equal(before.sent.length, 0);

    const { text, sent, pass } = device({ t, drafts });
    assert.equal(text.value.value, 'base and mine');
    text.online(true);
    text.receive({ content: 'theirs and base', version: 2 });
    assert.equal(text.value.value, 'theirs and base and mine');
    await pass(1_000);
    sent[0]?.written();
    await settled();
    assert.equal(drafts.load(), undefined, 'and then it is forgotten');
  });

  it('[PAGE-15] whose answer was lost with the page is not doubled by the next one', async (t) => {
    const drafts = draftsInMemory();
    const before = await deviceWith(t, '', { drafts });
    before.text.edit('milk');
    await before.pass(250);
    assert.equal(before.sent.length, 1);

    const { text } = device({ t, drafts });
    text.online(true);
    text.receive({ content: 'milk and eggs', version: 3 });
    assert.equal(text.value.value, 'milk and eggs');
  });

  it('[PAGE-8] keeps the words that collided over a reload', async (t) => {
    const drafts = draftsInMemory();
    const before = await deviceWith(t, 'the quick fox', { drafts });
    before.text.edit('the slow fox');
    before.text.receive({ content: 'the red fox', version: 2 });
    assert.deepEqual(before.text.unplaced.value, ['the slow fox']);

    const { text } = device({ t, drafts });
    text.online(true);
    text.receive({ content: 'the red fox', version: 2 });
    assert.match(`${text.value.value} ${text.unplaced.value}`, /slow/);
  });

  it('[PAGE-7] over the limit is told, not sent, and sent when it is shortened', async (t) => {
    const { text, sent, pass } = await deviceWith(t, '', { largest: 10 });
    text.edit('ü'.repeat(6));
    assert.equal(text.status.value, 'refused');
    assert.equal(text.refusal.value?.code, 'CONTENT_TOO_LARGE');
    await pass(5_000);
    assert.equal(sent.length, 0);
    text.edit('ü'.repeat(5));
    await pass(250);
    assert.deepEqual(contentsOf(sent), ['ü'.repeat(5)]);
  });

  it('[PAGE-15] that the server could not store is sent again when it is back', async (t) => {
    const { text, sent, pass } = await deviceWith(t, '');
    text.edit('hello');
    await pass(250);
    sent[0]?.fail(new PoproomError('UNAVAILABLE', 'A store does not answer.'));
    text.online(false);
    await settled();
    text.online(true);
    text.receive({ content: '', version: 1 });
    await pass(1_000);
    assert.deepEqual(contentsOf(sent), ['hello', 'hello']);
  });

  it('[PAGE-7] that is refused is told so, and not sent again and again', async (t) => {
    const { text, sent, pass } = await deviceWith(t, '');
    text.edit('hello');
    await pass(250);
    sent[0]?.fail(new PoproomError('VALIDATION_FAILED', 'No.'));
    await settled();
    assert.equal(text.status.value, 'refused');
    await pass(60_000);
    assert.equal(sent.length, 1);
    text.edit('hello again');
    await pass(250);
    assert.equal(sent.length, 2);
  });
});

interface Sent {
  content: string;
  baseVersion: number;
  written(): void;
  conflict(content: string): void;
  lost(): void;
  fail(error: PoproomError): void;
}

const contentsOf = (sent: readonly Sent[]) => sent.map(({ content }) => content);

interface Parts {
  t: TestContext;
  drafts?: ReturnType<typeof draftsInMemory>;
  largest?: number;
}

function device({ t, drafts = draftsInMemory(), largest = 1024 * 1024 }: Parts) {
  const sent: Sent[] = [];
  const write = (content: string, baseVersion: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<WriteAnswer>();
    const timestamp = '2026-11-15T09:30:00.000Z';
    const version = baseVersion + 1;
    sent.push({
      content,
      baseVersion,
      written: () => resolve({ type: 'written', seq: version, version, timestamp }),
      conflict: (content) => resolve({ type: 'conflict', content, version, timestamp }),
      lost: () => reject(new PoproomError('OFFLINE', 'gone')),
      fail: reject,
    });
    return promise;
  };
  const text = createSharedText({ write, largest, drafts });
  return {
    text,
    sent,
    async pass(ms: number) {
      t.mock.timers.tick(ms);
      await settled();
    },
  };
}

/** In a room whose text it knows as version 1. */
async function deviceWith(t: TestContext, content: string, parts: Omit<Parts, 't'> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const made = device({ t, ...parts });
  made.text.online(true);
  made.text.receive({ content, version: 1 });
  await settled();
  return made;
}

function draftsInMemory() {
  let kept: string | undefined;
  return {
    load: (): Draft | undefined => (kept === undefined ? undefined : JSON.parse(kept)),
    save(draft: Draft | undefined) {
      kept = draft && JSON.stringify(draft);
    },
  };
}
