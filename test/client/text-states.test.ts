/** The states of a shared text: what it sends when, and what it makes of the answers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PoproomError } from '../../src/client/index.ts';
import { insertion, openConnected, openTestChannel, rejected, remoteEdit, snapshot, written } from './test-channel.ts';

describe('a shared text', () => {
  it('[SDK-13] is loading until it has received the text, and appends earlier input', () => {
    const line = openTestChannel();
    assert.equal(line.text.state, 'loading');
    assert.equal(line.text.version, -1);
    line.text.append('mine');
    assert.deepEqual(line.join(snapshot('theirs, ', 3)), { edits: true, deviceId: 'me', needsSnapshot: true });
    assert.equal(line.text.value, 'theirs, mine');
    assert.equal(line.text.state, 'awaiting-answer');
    const sent = line.takeSent();
    assert.deepEqual([sent.baseVersion, sent.edits], [3, [insertion(8, 'mine')]]);
  });

  it('[SDK-13] sends the first edit immediately, and the next ones together after its confirmation', () => {
    const line = openConnected('');
    line.text.append('a');
    const first = line.takeSent();
    assert.deepEqual([first.baseVersion, first.edits], [1, [insertion(0, 'a')]]);
    line.text.append('b');
    line.text.append('c');
    assert.equal(line.text.state, 'awaiting-answer-with-buffer');
    line.time.advance(500);
    assert.equal(line.sent.length, 0);
    line.receive(written(first, 2));
    const second = line.takeSent();
    assert.deepEqual([second.baseVersion, second.edits], [2, [insertion(1, 'bc')]]);
    assert.notEqual(second.ref, first.ref);
    assert.equal(line.text.state, 'awaiting-answer');
    line.receive(written(second, 3));
    assert.equal(line.text.state, 'synchronized');
    assert.equal(line.text.version, 3);
  });

  it('[SDK-13] waits 100 ms between two messages, unless it is flushed', () => {
    const line = openConnected('');
    line.text.append('a');
    line.receive(written(line.takeSent(), 2));
    line.text.append('b');
    line.time.advance(99);
    assert.equal(line.sent.length, 0);
    line.time.advance(1);
    line.receive(written(line.takeSent(), 3));
    line.text.append('c');
    line.text.flush();
    assert.deepEqual(line.takeSent().edits, [insertion(2, 'c')]);
    line.time.advance(1000);
    assert.equal(line.sent.length, 0);
  });

  it('[SYNC-1] rebases sent and buffered edits over a remote edit', () => {
    const line = openConnected('one two');
    line.text.append('!');
    line.text.insert(0, '> ');
    line.receive(remoteEdit(2, [{ from: 0, to: 3, insert: 'three' }]));
    assert.equal(line.text.value, '> three two!');
    assert.deepEqual(line.changes.at(-1), {
      edits: [{ from: 2, to: 5, insert: 'three' }],
      origin: 'remote',
      deviceId: 'other',
    });
    line.receive(written(line.takeSent(), 3));
    line.time.advance(100);
    assert.deepEqual(line.takeSent().edits, [insertion(0, '> ')]);
  });

  it('[SYNC-2] orders insertions at the same position by device', () => {
    for (const [deviceId, value] of [
      ['later', 'theirsmine'],
      ['nobody', 'minetheirs'],
      [undefined, 'minetheirs'],
      ['me', 'theirsmine'],
    ] as const) {
      const line = openConnected('');
      line.text.append('mine');
      const from = deviceId === undefined ? { deviceId: undefined as never } : { deviceId };
      line.receive(remoteEdit(2, [insertion(0, 'theirs')], from));
      assert.equal(line.text.value, value, String(deviceId));
    }
  });

  it('[SYNC-2] keeps a word whole that replaces a range while another device types at its end', () => {
    const line = openConnected('old');
    line.text.edit([{ from: 0, to: 3, insert: 'n' }]);
    line.text.append('ew');
    line.receive(remoteEdit(2, [insertion(3, '!')], { deviceId: 'later' }));
    assert.equal(line.text.value, 'new!');
    line.receive(written(line.takeSent(), 3));
    line.time.advance(100);
    assert.deepEqual(line.takeSent().edits, [insertion(1, 'ew')]);
  });

  it('[SYNC-2] orders the rest of such a buffer by device', () => {
    const line = openConnected('old, ');
    line.text.edit([{ from: 0, to: 3, insert: 'n' }]);
    line.text.edit([insertion(1, 'ew'), insertion(3, 'mine')]);
    line.receive(remoteEdit(2, [insertion(3, '!'), insertion(5, 'theirs')], { deviceId: 'later' }));
    assert.equal(line.text.value, 'new!, theirsmine');
  });

  it('[SDK-13] sends more than 1000 changes as one range', () => {
    const line = openConnected('.'.repeat(3000));
    line.text.edit(Array.from({ length: 1001 }, (_, index) => insertion(1 + index * 2, 'x')));
    const { edits } = line.takeSent();
    assert.equal(edits.length, 1);
    assert.deepEqual([edits[0]?.from, edits[0]?.to], [1, 2001]);
    assert.equal(edits[0]?.insert, `x${'..x'.repeat(1000)}`);
  });

  it('[SDK-13] sends nothing if edits cancel each other out', () => {
    const line = openConnected('');
    line.disconnect();
    line.text.append('a');
    line.text.edit([{ from: 0, to: 1, insert: '' }]);
    assert.equal(line.text.state, 'synchronized');
    line.join();
    assert.equal(line.sent.length, 0);
  });

  it('[SYNC-1] never holds half of a surrogate pair', () => {
    const line = openConnected('a😀b');
    line.text.edit([{ from: 2, to: 3, insert: '\ude01' }]);
    assert.equal(line.text.value, 'a😁b');
    assert.deepEqual(line.takeSent().edits, [{ from: 1, to: 3, insert: '😁' }]);
    line.text.insert(2, 'x');
    assert.equal(line.text.value, 'a\ufffdx\ufffdb');
    line.text.append('\ud83d');
    assert.match(line.text.value, /b\ufffd$/);
    line.text.replace('\udc00');
    assert.equal(line.text.value, '\ufffd');
  });

  it('[SDK-13] rejects positions outside the text', () => {
    const line = openConnected('text');
    const wrong = [
      [insertion(5, 'x')],
      [insertion(-1, 'x')],
      [insertion(0.5, 'x')],
      [insertion(Number.NaN, 'x')],
      [{ from: 3, to: 2, insert: '' }],
      [{ from: 0, to: 2, insert: '' }, insertion(1, 'x')],
    ];
    for (const edits of wrong) assert.throws(() => line.text.edit(edits), RangeError);
    assert.equal(line.text.value, 'text');
    line.text.edit([]);
    line.text.edit([{ from: 0, to: 4, insert: 'text' }]);
    assert.equal(line.sent.length, 0);
  });

  it('[SDK-13] reports when everything is stored, or why it is not', async () => {
    const line = openConnected('');
    await line.text.synchronized();
    line.text.append('a');
    const stored = line.text.synchronized();
    line.receive(written(line.takeSent(), 2));
    await stored;
    line.time.advance(100);
    line.text.append('b');
    const refusal = line.text.synchronized();
    line.receive(rejected(line.takeSent(), 'CONTENT_TOO_LARGE'));
    await assert.rejects(refusal, PoproomError);
    await assert.rejects(line.text.synchronized(), { code: 'CONTENT_TOO_LARGE' });
    line.time.advance(100);
    line.text.append('c');
    const closed = line.text.synchronized();
    line.text.close();
    await assert.rejects(closed, { code: 'OFFLINE' });
    await assert.rejects(line.text.synchronized(), { code: 'OFFLINE' });
    line.join();
    assert.equal(line.text.isOnline, false);
  });

  it('[SAFE-10] keeps at most 1,000 ranges of pending edits, however often others split them', () => {
    const line = openConnected('x'.repeat(3000));
    line.text.edit([{ from: 0, to: 3000, insert: '' }]);
    line.text.edit([{ from: 0, to: 0, insert: 'mine' }]);
    const inserted = 30;
    for (let n = 0; n < 50; n++) {
      const width = (3000 + n * inserted) / inserted;
      const edits = Array.from({ length: inserted }, (_, i) => insertion(Math.floor((i + n / 50) * width), 'y'));
      line.receive(remoteEdit(2 + n, edits));
    }
    const { sent, buffer } = line.text.save() ?? {};
    for (const edits of [sent?.edits, buffer]) assert.ok(edits && edits.length <= 1000, `${edits?.length} ranges`);
    assert.equal(line.text.value.replace('mine', ''), 'y'.repeat(50 * inserted));
  });

  it('[SDK-13] notifies listeners of changes in order, and survives their errors', (t) => {
    const line = openConnected('');
    const seen: string[] = [];
    const { mock } = t.mock.method(globalThis, 'queueMicrotask', () => undefined);
    line.text.on('change', ({ origin }) => {
      if (origin === 'remote') line.text.append('!');
    });
    const stop = line.text.on('change', ({ edits, origin }) => {
      seen.push(`${origin} ${edits[0]?.insert}`);
      if (origin === 'remote') throw new Error('a mistake');
    });
    line.receive(remoteEdit(2, [insertion(0, 'hi')]));
    assert.deepEqual(seen, ['remote hi', 'local !']);
    assert.throws(mock.calls[0]?.arguments[0] as () => void, /a mistake/);
    stop();
    line.text.append('x');
    assert.equal(seen.length, 2);
  });

  it('[SDK-13] notifies listeners only when its state changes', () => {
    const line = openConnected('');
    const states: string[] = [];
    line.text.on('state', () => states.push(`${line.text.state} ${line.text.isOnline}`));
    line.text.append('a');
    line.text.append('b');
    line.text.append('c');
    line.disconnect();
    assert.deepEqual(states, [
      'awaiting-answer true',
      'awaiting-answer-with-buffer true',
      'awaiting-answer-with-buffer false',
    ]);
  });
});
