/** A shared text over lost answers, refusals, reconnects and snapshots. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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

  it('[SYNC-1] asks for a snapshot when the server no longer knows its version', () => {
    const line = openConnected('old text');
    line.text.append('!');
    const first = line.takeSent();
    line.receive(rejected(first, 'VERSION_CONFLICT'));
    assert.equal(line.reconnects, 1);
    line.time.advance(200);
    assert.equal(line.join(snapshot('new text', 700)).needsSnapshot, true);
    assert.equal(line.text.value, 'new text!');
    const again = line.takeSent();
    assert.deepEqual([again.ref, again.baseVersion, again.edits], [first.ref, 700, [insertion(8, '!')]]);
  });

  it('[SYNC-3] does not resend an edit that a snapshot contains', () => {
    const line = openConnected('one two');
    line.text.insert(3, ' and a half');
    line.takeSent();
    line.text.append('!');
    line.disconnect();
    line.time.advance(200);
    line.join(snapshot('zero one and a half two', 700));
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

  it('[SYNC-1] reads the stored form of an edit from the log if a snapshot arrived before its confirmation', () => {
    const line = openConnected('one two');
    line.text.insert(0, 'X');
    const first = line.takeSent();
    line.receive(snapshot('three', 9));
    line.receive(written(first, 10));
    assert.equal(line.reconnects, 1);
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
