/** A shared text over lost answers, refusals, reconnects and snapshots. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { channelOf, type SavedText } from '../../src/client/text/shared-text.ts';
import type { EditText, ServerMessage, TextEdit } from '../../src/protocol/types.ts';
import { checksumOf } from '../../src/text/document.ts';
import {
  insertion,
  openConnected,
  openTestChannel,
  rejected,
  remoteEdit,
  snapshot,
  timestampOf,
  written,
} from './test-channel.ts';

describe('a shared text whose connection or responses are lost', () => {
  it('[SYNC-1] ignores known edits, and rejoins if one is missing', () => {
    const line = openConnected('text');
    line.receive(remoteEdit(1, [insertion(0, 'old')]));
    assert.equal(line.text.value, 'text');
    line.receive(remoteEdit(3, [insertion(0, 'new')]));
    assert.equal(line.text.value, 'text');
    assert.equal(line.reconnects, 1);
    assert.equal(line.text.isOnline, false);
    assert.deepEqual(line.join(remoteEdit(2, [insertion(0, '<')]), remoteEdit(3, [insertion(0, 'new')])), {
      edits: true,
      deviceId: 'me',
      needsSnapshot: false,
      version: 1,
      timestamp: timestampOf(1),
    });
    assert.equal(line.text.value, 'new<text');
  });

  it('[SYNC-1] asks for a snapshot when an edit does not fit its text', () => {
    const line = openConnected('text');
    line.text.append('!');
    line.receive(remoteEdit(2, [insertion(99, 'far away')]));
    assert.equal(line.reconnects, 1);
    assert.equal(line.join(snapshot('another text', 2)).needsSnapshot, true);
    assert.equal(line.text.value, 'another text!');
  });

  it('[SYNC-5] loads the text again if it differs from what the server states, and says so', () => {
    const faulty: [string, ServerMessage][] = [
      ['length', { ...remoteEdit(2, [insertion(0, 'ab')]), length: 7 } as ServerMessage],
      ['checksum', { ...remoteEdit(2, [insertion(0, 'ab')]), length: 6, checksum: 1 } as ServerMessage],
    ];
    for (const [name, message] of faulty) {
      const line = openConnected('text');
      line.receive(message);
      assert.equal(line.reconnects, 1, name);
      const join = line.join(snapshot('another', 2));
      assert.deepEqual([join.needsSnapshot, join.diverged, join.version], [true, true, undefined]);
      assert.equal(line.text.value, 'another');
      line.disconnect();
      assert.equal(line.join().diverged, undefined);
    }
    const line = openConnected('text');
    line.receive({
      ...remoteEdit(2, [insertion(0, 'ab')]),
      length: 6,
      checksum: checksumOf('abtext'),
    } as ServerMessage);
    assert.deepEqual([line.reconnects, line.text.value], [0, 'abtext']);
    line.text.append('!');
    line.receive({ ...written(line.takeSent(), 3), length: 6 } as ServerMessage);
    assert.equal(line.reconnects, 1, 'also for its own edit');
  });

  it('[SYNC-5] loads the text again if the server finds its edit invalid, once', () => {
    const line = openConnected('text');
    line.text.append('!');
    const first = line.takeSent();
    line.receive(rejected(first, 'VALIDATION_FAILED', { field: 'edits', index: 0 }));
    assert.equal(line.reconnects, 1);
    line.time.advance(200);
    assert.equal(line.join(snapshot('a', 2)).diverged, true);
    assert.equal(line.text.value, 'a!');
    assert.equal(line.takeSent().ref, first.ref);
    line.receive(rejected(first, 'VALIDATION_FAILED', { field: 'edits', index: 0 }));
    assert.equal(line.reconnects, 1);
    assert.equal(line.text.refusal?.code, 'VALIDATION_FAILED');
  });

  it('[SYNC-3] reads the log if its ref was used for another form of the edit', () => {
    const line = openConnected('text');
    line.text.append('!');
    const { ref = '' } = line.takeSent();
    line.receive(rejected({ type: 'edit', edits: [], baseVersion: 1, ref }, 'VALIDATION_FAILED', { field: 'ref' }));
    assert.equal(line.reconnects, 1);
    line.time.advance(200);
    const own = remoteEdit(2, [insertion(0, '!')], { deviceId: 'me', ref });
    assert.equal(line.join(own).version, 1);
    assert.deepEqual([line.text.value, line.text.state], ['!text', 'synchronized']);
  });

  it('[SYNC-1] sends nothing until all missed edits have arrived', () => {
    const line = openConnected('text');
    line.disconnect();
    line.text.append('!');
    line.time.advance(200);
    const channel = channelOf(line.text);
    channel.join(undefined);
    const sent: EditText[] = [];
    channel.onMessage(remoteEdit(2, [insertion(0, 'a')]));
    channel.onConnected({ send: (message) => void sent.push(message), reconnect: () => undefined });
    channel.onMessage(remoteEdit(3, [insertion(0, 'b')]));
    assert.deepEqual([sent.length, line.text.isOnline], [0, false]);
    channel.onMessage({ type: 'devices', seq: 3, devices: [] });
    assert.deepEqual([sent[0]?.baseVersion, sent[0]?.edits], [3, [insertion(6, '!')]]);
  });

  it('[SYNC-3] resends an unconfirmed edit with the same ref', () => {
    const line = openConnected('');
    line.text.append('a');
    const first = line.takeSent();
    line.text.append('b');
    line.disconnect();
    assert.equal(line.text.isOnline, false);
    line.text.append('c');
    line.time.advance(1000);
    line.join();
    assert.deepEqual(line.takeSent(), first);
    line.receive(written(first, 2));
    line.time.advance(100);
    assert.deepEqual(line.takeSent().edits, [insertion(1, 'bc')]);
  });

  it('[SYNC-3] recognises its own edit in the log, and does not apply it twice', () => {
    const line = openConnected('');
    line.text.append('a');
    const first = line.takeSent();
    line.disconnect();
    line.text.append('b');
    line.time.advance(1000);
    line.join(remoteEdit(2, [insertion(0, 'a')], { deviceId: 'me', ref: first.ref ?? '' }));
    assert.equal(line.text.value, 'ab');
    assert.equal(line.text.version, 2);
    assert.deepEqual(line.takeSent().edits, [insertion(1, 'b')]);
  });

  it('[SYNC-3] adopts its edit in the form that the server stored', () => {
    const line = openConnected('1 2 3');
    line.text.insert(5, 'x');
    const first = line.takeSent();
    line.text.insert(6, 'y');
    line.receive(remoteEdit(2, [insertion(0, 'x')], { deviceId: 'me', ref: first.ref ?? '' }));
    assert.equal(line.text.value, 'x1 2 3y');
  });

  it('[SYNC-3] keeps an edit and its ref after a temporary error', () => {
    for (const [code, retryAfter, ms] of [
      ['UNAVAILABLE', undefined, 10_000],
      ['STORAGE_FULL', 30, 30_000],
    ] as const) {
      const line = openConnected('');
      line.text.append('a');
      const first = line.takeSent();
      line.text.append('b');
      line.receive(rejected(first, code, retryAfter === undefined ? undefined : { retryAfter }));
      assert.equal(line.text.refusal?.code, code);
      line.time.advance(ms - 1);
      assert.equal(line.sent.length, 0);
      line.time.advance(1);
      assert.deepEqual(line.takeSent(), first);
      line.receive(written(first, 2));
      assert.equal(line.text.refusal, undefined);
    }
  });

  it('[SYNC-3] resends it immediately after reconnecting', () => {
    const line = openConnected('');
    line.text.append('a');
    const first = line.takeSent();
    line.receive(rejected(first, 'UNAVAILABLE'));
    line.disconnect();
    line.time.advance(200);
    line.join();
    assert.deepEqual(line.takeSent(), first);
  });

  it('[SYNC-3] merges a permanently rejected edit into the next one, with a new ref', () => {
    const line = openConnected('');
    line.text.append('far too long');
    const first = line.takeSent();
    line.text.append(', and longer');
    line.receive(rejected(first, 'CONTENT_TOO_LARGE'));
    assert.equal(line.text.refusal?.code, 'CONTENT_TOO_LARGE');
    line.time.advance(60_000);
    assert.equal(line.sent.length, 0);
    line.text.edit([{ from: 3, to: 24, insert: '' }]);
    const second = line.takeSent();
    assert.notEqual(second.ref, first.ref);
    assert.deepEqual(second.edits, [insertion(0, 'far')]);
    line.receive(written(second, 2));
    assert.equal(line.text.refusal, undefined);
    assert.equal(line.text.state, 'synchronized');
  });

  it('[SYNC-1] rejoins with its version when the server cannot rebase its edit', () => {
    const line = openConnected('old text');
    line.text.append('!');
    const first = line.takeSent();
    line.receive(rejected(first, 'VERSION_CONFLICT'));
    assert.equal(line.reconnects, 1);
    line.time.advance(200);
    assert.deepEqual(line.join(snapshot('new text', 700)).version, 1);
    assert.equal(line.text.value, 'new text!');
    const again = line.takeSent();
    assert.deepEqual([again.ref, again.baseVersion, again.edits], [first.ref, 700, [insertion(8, '!')]]);
  });

  it('[SYNC-3] [SYNC-6] does not resend an edit that a snapshot contains', () => {
    const line = openConnected('one two');
    line.text.insert(3, ' and a half');
    const { ref } = line.takeSent();
    line.text.append('!');
    line.disconnect();
    line.time.advance(200);
    line.join(snapshot('zero one and a half two', 700, ref));
    assert.equal(line.text.value, 'zero one and a half two!');
    assert.deepEqual(line.takeSent().edits, [insertion(23, '!')]);
  });

  it('[SYNC-3] removes a pending edit that the snapshot already contains', () => {
    const line = openConnected('one two');
    line.text.insert(0, 'X');
    const first = line.takeSent();
    line.disconnect();
    line.text.append('!');
    line.time.advance(200);
    // Someone wrote over it since.
    line.join(snapshot('one two three', 700));
    assert.equal(line.text.value, 'Xone two! three');
    assert.equal(line.takeSent().ref, first.ref);
    line.receive(written(first, 2));
    assert.equal(line.text.value, 'one two! three');
    line.time.advance(200);
    assert.deepEqual(line.takeSent().edits, [insertion(7, '!')]);
  });

  it('[SYNC-1] follows a server that lost its newest versions', () => {
    const line = openConnected('one two three');
    line.disconnect();
    line.text.append('!');
    line.join(snapshot('one two', 0));
    assert.equal(line.text.version, 0);
    assert.equal(line.text.value, 'one two!');
    assert.equal(line.takeSent().baseVersion, 0);
  });

  it('[SYNC-1] changes nothing for a snapshot of the version that it has', () => {
    const line = openConnected('text');
    line.receive(snapshot('text', 1));
    assert.deepEqual(line.changes, []);
    line.receive({ type: 'content', seq: 2, content: 'a whole text', version: 2, timestamp: timestampOf(2) });
    assert.equal(line.text.value, 'a whole text');
    assert.equal(line.text.version, 2);
  });

  it('[SYNC-1] [SYNC-6] asks for the edits if a snapshot arrives while one is pending', () => {
    const line = openConnected('one two');
    line.text.insert(0, 'X');
    const first = line.takeSent();
    line.receive(snapshot('three', 9));
    assert.equal(line.reconnects, 1, 'only the edits show where the pending one belongs');
    assert.equal(line.text.value, 'Xone two');
    line.time.advance(200);
    assert.equal(line.join(snapshot('three', 9)).version, 1);
    const again = line.takeSent();
    assert.deepEqual([again.ref, again.baseVersion], [first.ref, 9]);
    // The server may have stored the first form of the edit, so only the log shows the result.
    line.receive(written(first, 10));
    assert.equal(line.reconnects, 2);
    line.join(remoteEdit(10, [insertion(5, 'X')], { deviceId: 'me', ref: first.ref ?? '' }));
    assert.equal(line.text.value, 'threeX');
    assert.equal(line.text.state, 'synchronized');
  });

  it('[SYNC-1] reads the stored form from the log if an edit was resent in a different form', () => {
    const line = openConnected('abc');
    line.text.edit([
      { from: 0, to: 1, insert: 'X' },
      { from: 2, to: 3, insert: 'Y' },
    ]);
    const first = line.takeSent();
    line.receive(remoteEdit(2, [{ from: 1, to: 2, insert: '' }]));
    line.disconnect();
    line.time.advance(200);
    line.join();
    assert.deepEqual(line.takeSent().edits, [{ from: 0, to: 2, insert: 'XY' }]);
    line.receive(written(first, 3));
    assert.equal(line.reconnects, 1);
    line.join(remoteEdit(3, [{ from: 0, to: 2, insert: 'XY' }], { deviceId: 'me', ref: first.ref ?? '' }));
    assert.equal(line.text.state, 'synchronized');
    assert.equal(line.text.value, 'XY');
  });

  it('[SYNC-3] continues after a reload with its saved state', () => {
    const line = openConnected('text');
    assert.equal(line.text.save(), undefined);
    line.text.append('!');
    const first = line.takeSent();
    line.text.insert(0, '> ');
    const saved = line.text.save();
    assert.deepEqual(saved, {
      version: 1,
      timestamp: timestampOf(1),
      length: 4,
      content: 'text',
      deviceId: 'me',
      sent: { ref: first.ref, edits: [insertion(4, '!')] },
      buffer: [insertion(0, '> ')],
    });
    const reloaded = openTestChannel({ saved: JSON.parse(JSON.stringify(saved)), deviceId: 'another' });
    assert.equal(reloaded.text.value, '> text!');
    assert.equal(reloaded.text.state, 'awaiting-answer-with-buffer');
    const join = reloaded.join();
    assert.deepEqual([join.version, join.deviceId], [1, 'me']);
    assert.deepEqual(reloaded.takeSent(), first);
  });
});

describe('a shared text that was saved without its content', () => {
  it('[SYNC-3] is shown with its edits when the server has sent the missed edits and the text', () => {
    const line = openOutline({ sent: [insertion(4, '!')], buffer: [insertion(0, '> ')] });
    assert.deepEqual([line.text.value, line.text.state, line.text.version], ['', 'loading', 1]);
    const join = line.join(remoteEdit(2, [insertion(0, 'a ')]), snapshot('a text', 2));
    assert.deepEqual([join.version, join.timestamp, join.needsSnapshot], [1, timestampOf(1), true]);
    assert.deepEqual(line.changes, [{ edits: [insertion(0, '> a text!')], origin: 'remote', deviceId: undefined }]);
    assert.equal(line.reconnects, 0);
    const sent = line.takeSent();
    assert.deepEqual([sent.ref, sent.baseVersion, sent.edits], ['ref', 2, [insertion(6, '!')]]);
    line.receive(written(sent, 3));
    line.time.advance(200);
    assert.deepEqual(line.takeSent().edits, [insertion(0, '> ')]);
  });

  it('[SYNC-3] recognises its own edit among the missed edits', () => {
    const line = openOutline({ sent: [insertion(4, '!')], buffer: [insertion(5, '?')] });
    line.join(
      remoteEdit(2, [insertion(0, 'a ')]),
      remoteEdit(3, [insertion(6, '!')], { deviceId: 'me', ref: 'ref' }),
      snapshot('a text!', 3, 'ref'),
    );
    assert.equal(line.text.value, 'a text!?');
    assert.deepEqual(line.takeSent().edits, [insertion(7, '?')]);
  });

  it('[SYNC-3] keeps its edits when the connection is lost between the missed edits and the text', () => {
    const line = openOutline({ buffer: [insertion(4, '!')] });
    const channel = channelOf(line.text);
    channel.join(undefined);
    channel.onMessage(remoteEdit(2, [insertion(0, 'a ')]));
    channel.onConnected({ send: () => assert.fail('nothing can be sent yet'), reconnect: () => assert.fail() });
    line.disconnect();
    const { content, ...saved } = line.text.save() ?? assert.fail();
    assert.equal(content, undefined);
    assert.deepEqual([saved.version, saved.length, saved.buffer], [2, 6, [insertion(6, '!')]]);
    const join = line.join(snapshot('a text', 2));
    assert.deepEqual([join.version, join.needsSnapshot], [2, true]);
    assert.equal(line.text.value, 'a text!');
  });

  it('[SYNC-3] appends the inserted texts as lines if the log does not reach back to its version', () => {
    for (const [content, expected] of [
      ['another text', 'another text\n> and\n!?'],
      ['with a line feed\n', 'with a line feed\n> and\n!?'],
      ['', '> and\n!?'],
    ] as const) {
      const line = openOutline({
        sent: [insertion(4, '!')],
        buffer: [{ from: 0, to: 2, insert: '> and' }, insertion(5, '?')],
      });
      line.join(snapshot(content, 700));
      assert.equal(line.text.value, expected);
      assert.deepEqual(line.changes.length, 1);
      line.time.advance(200);
      assert.deepEqual([line.takeSent().ref, line.text.state], ['ref', 'awaiting-answer-with-buffer']);
    }
  });

  it('[SYNC-3] does not append an edit that the server has stored, or one that only removes', () => {
    const stored = openOutline({ sent: [insertion(4, '!')], buffer: [insertion(0, 'more')] });
    stored.join(snapshot('text! and others', 700, 'ref'));
    assert.equal(stored.text.value, 'text! and others\nmore');
    assert.deepEqual(stored.takeSent().edits, [insertion(16, '\nmore')]);
    const removal = openOutline({ sent: [{ from: 0, to: 2, insert: '' }] });
    removal.join(snapshot('another text', 700));
    assert.deepEqual([removal.text.value, removal.text.state], ['another text', 'synchronized']);
  });

  it('[SYNC-3] puts edits made before the text arrived after it, also after another reload', () => {
    const line = openOutline({ buffer: [insertion(4, '!')] });
    line.text.append(' earlier');
    line.text.insert(0, ' even');
    assert.deepEqual([line.text.value, line.text.state], [' even earlier', 'loading']);
    const saved = line.text.save();
    assert.deepEqual([saved?.length, saved?.content, saved?.buffer], [4, undefined, [insertion(4, '! even earlier')]]);
    for (const channel of [line, openTestChannel({ saved: JSON.parse(JSON.stringify(saved)) })]) {
      channel.join(remoteEdit(2, [insertion(0, 'a ')]), snapshot('a text', 2));
      assert.equal(channel.text.value, 'a text! even earlier');
      channel.time.advance(200);
      assert.deepEqual(channel.takeSent().edits, [insertion(6, '! even earlier')]);
    }
    line.text.undo();
    line.text.undo();
    assert.equal(line.text.value, 'a text!');
  });

  it('[SYNC-5] [SYNC-3] loads the text again if its length differs from what the server states', () => {
    const line = openOutline({ buffer: [insertion(4, '!')] });
    line.join({ ...remoteEdit(2, [insertion(0, 'a ')]), length: 99 } as ServerMessage);
    assert.equal(line.reconnects, 1);
    line.time.advance(200);
    const join = line.join(snapshot('far longer', 2));
    assert.deepEqual([join.diverged, join.version], [true, undefined]);
    assert.equal(line.text.value, 'far longer\n!');
  });

  it('[SYNC-3] appends an edit that would split a character after its own edit was stored in another form', () => {
    const line = openOutline({ sent: [{ from: 0, to: 1, insert: '' }], buffer: [insertion(2, 'x')] });
    const stored = remoteEdit(2, [{ from: 3, to: 4, insert: '' }], { deviceId: 'me', ref: 'ref' });
    line.join(stored, snapshot('a😀', 2));
    assert.equal(line.text.value, 'a😀\nx');
  });

  it('[SYNC-3] is shown without a connection if the text was empty', () => {
    const line = openOutline({ buffer: [insertion(0, 'first')] }, 0);
    assert.deepEqual([line.text.value, line.text.state], ['first', 'awaiting-answer']);
  });
});

/** Restored with these edits of version 1, of which only the length is known. */
function openOutline({ sent, buffer }: { sent?: TextEdit[]; buffer?: TextEdit[] }, length = 4) {
  const edits = { ...(sent && { sent: { ref: 'ref', edits: sent } }), ...(buffer && { buffer }) };
  const saved: SavedText = { version: 1, timestamp: timestampOf(1), length, deviceId: 'me', ...edits };
  return openTestChannel({ saved });
}
