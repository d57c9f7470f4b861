/** Undo and redo in a shared text. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { insertion, openConnected, remoteEdit, type TestChannel, written } from './test-channel.ts';

describe('undo', () => {
  it('[SYNC-4] reverts a run of typing as one group, and redo restores it', () => {
    const line = openConnected('Dear ');
    type(line, 'Bob');
    assert.equal(line.text.canUndo, true);
    const change = line.text.undo();
    assert.deepEqual(change, { edits: [{ from: 5, to: 8, insert: '' }], origin: 'undo' });
    assert.equal(line.text.value, 'Dear ');
    assert.equal(line.text.canUndo, false);
    assert.equal(line.text.undo(), undefined);
    assert.equal(line.text.redo()?.origin, 'redo');
    assert.equal(line.text.value, 'Dear Bob');
    assert.equal(line.text.canRedo, false);
  });

  it('[SYNC-4] starts a new group after a pause, at another position, and on request', () => {
    const line = openConnected('');
    type(line, 'on');
    line.time.advance(999);
    type(line, 'e');
    line.time.advance(1000);
    type(line, 'two');
    line.text.insert(0, '<');
    line.text.insert(1, '<');
    line.text.endGroup();
    line.text.insert(2, '<');
    assert.deepEqual(undoAll(line), ['<<onetwo', 'onetwo', 'one', '']);
  });

  it('[SYNC-4] separates typing, deleting and pasting', () => {
    const line = openConnected('');
    type(line, 'abc');
    line.text.edit([{ from: 2, to: 3, insert: '' }]);
    line.text.edit([{ from: 1, to: 2, insert: '' }]);
    line.text.append('a paste');
    type(line, '!');
    line.text.replace('something else');
    type(line, '?');
    assert.deepEqual(undoAll(line), ['something else', 'aa paste!', 'aa paste', 'a', 'abc', '']);
  });

  it('[SYNC-4] groups deletions in both directions, except of a whole selection', () => {
    const line = openConnected('0123456789');
    line.text.edit([{ from: 5, to: 6, insert: '' }]);
    line.text.edit([{ from: 4, to: 5, insert: '' }]);
    line.text.edit([{ from: 4, to: 5, insert: '' }]);
    assert.equal(line.text.value, '0123789');
    line.text.edit([{ from: 0, to: 4, insert: '' }]);
    assert.deepEqual(undoAll(line), ['0123789', '0123456789']);
  });

  it('[SYNC-4] ends a group with a new line', () => {
    const line = openConnected('');
    type(line, 'one\ntwo');
    assert.deepEqual(undoAll(line), ['one\n', '']);
    for (const part of ['o', '\r\n', 't']) line.text.append(part);
    assert.deepEqual(undoAll(line), ['o\r\n', '']);
  });

  it('[SYNC-4] ends a group before the next word after twenty characters', () => {
    const line = openConnected('');
    for (const letter of 'It was a bright cold day in April, and the clocks were striking thirteen.') {
      line.text.append(letter);
      line.time.advance(300);
    }
    assert.deepEqual(undoAll(line), [
      'It was a bright cold day in April, and the clocks were striking ',
      'It was a bright cold day in April, and the ',
      'It was a bright cold ',
      '',
    ]);
    type(line, 'Donaudampfschifffahrtsgesellschaft');
    assert.deepEqual(undoAll(line), [''], 'a long word stays in one piece');
    type(line, '国境の長いトンネルを抜けると雪国であった。夜の底が白くなった。');
    assert.deepEqual(undoAll(line), ['国境の長いトンネルを抜けると雪国であった。', '']);
  });

  it('[SYNC-4] ends a group before the next word while others type', () => {
    const line = openConnected('....');
    type(line, 'a sentence of some words ');
    line.receive(remoteEdit(2, [insertion(0, 'someone else')]));
    type(line, 'and more');
    assert.deepEqual(undoAll(line), ['someone else....a sentence of some words ', 'someone else....']);
  });

  it('[SYNC-4] groups replacements of an input method with the typing before', () => {
    const line = openConnected('');
    type(line, 'ka');
    line.text.edit([{ from: 0, to: 2, insert: 'か' }]);
    line.text.append('n');
    line.text.edit([{ from: 0, to: 2, insert: 'かん' }]);
    line.text.edit([{ from: 0, to: 2, insert: '漢' }]);
    assert.deepEqual(undoAll(line), ['']);
  });

  it('[SYNC-4] reverts only local edits, despite remote edits around and inside them', () => {
    const line = openConnected('');
    type(line, 'mine');
    line.receive(written(line.takeSent(), 2));
    line.time.advance(100);
    line.receive(written(line.takeSent(), 3));
    line.receive(remoteEdit(4, [insertion(0, 'A '), insertion(2, ' B '), insertion(4, ' C')]));
    line.receive(remoteEdit(5, [{ from: 3, to: 5, insert: '' }]));
    assert.equal(line.text.value, 'A mB ne C');
    line.text.undo();
    assert.equal(line.text.value, 'A B  C');
    line.receive(remoteEdit(6, [insertion(0, '> ')]));
    line.text.redo();
    assert.equal(line.text.value, '> A mB ne C');
  });

  it('[SYNC-4] groups a run of typing while others type elsewhere', () => {
    const line = openConnected('....');
    type(line, 'ab');
    line.receive(remoteEdit(2, [insertion(0, 'someone else')]));
    type(line, 'cd');
    line.receive(remoteEdit(3, [insertion(0, '!')]));
    assert.deepEqual(undoAll(line), ['!someone else....']);
  });

  it('[SYNC-4] restores locally deleted text next to remote insertions', () => {
    const line = openConnected('one two three');
    line.text.edit([{ from: 4, to: 8, insert: '' }]);
    line.receive(remoteEdit(2, [insertion(0, '> '), insertion(13, ' four')]));
    line.text.undo();
    assert.equal(line.text.value, '> one two three four');
  });

  it('[SYNC-4] skips edits that others have completely removed', () => {
    const line = openConnected('');
    line.text.append('first');
    line.text.append('second');
    line.receive(written(line.takeSent(), 2));
    line.time.advance(100);
    line.receive(written(line.takeSent(), 3));
    line.receive(remoteEdit(4, [{ from: 5, to: 11, insert: '' }]));
    line.text.undo();
    assert.equal(line.text.value, '');
    assert.equal(line.text.canUndo, false);
    line.receive(remoteEdit(5, [insertion(5, '!')]));
    assert.equal(line.text.canUndo, false);
  });

  it('[SYNC-4] is sent like any other edit', () => {
    const line = openConnected('');
    line.text.append('word');
    line.receive(written(line.takeSent(), 2));
    line.time.advance(100);
    line.text.undo();
    assert.deepEqual(line.takeSent().edits, [{ from: 0, to: 4, insert: '' }]);
  });

  it('[SYNC-4] cannot be taken back by redo after a new edit', () => {
    const line = openConnected('');
    line.text.append('word');
    line.text.undo();
    line.text.append('other');
    assert.equal(line.text.canRedo, false);
    assert.equal(line.text.redo(), undefined);
  });

  it('[SYNC-4] keeps a bounded amount of removed text, and always the last group', () => {
    const long = (letter: string) => letter.repeat(1_500_000);
    const line = openConnected(long('a'));
    for (const letter of 'bcde') line.text.replace(long(letter));
    assert.deepEqual(
      undoAll(line).map((value) => value[0]),
      ['d', 'c'],
    );
    line.text.replace('a'.repeat(5_000_000));
    line.text.replace('');
    assert.equal(undoAll(line)[0]?.length, 5_000_000);
  });

  it('[SYNC-4] keeps the last 1,000 groups', () => {
    const line = openConnected('');
    for (let index = 0; index < 1_010; index++) line.text.append(`${index} `);
    assert.equal(undoAll(line).length, 1_000);
    assert.equal(line.text.value, '0 1 2 3 4 5 6 7 8 9 ');
  });
});

function type({ text }: TestChannel, letters: string): void {
  for (const letter of letters) text.append(letter);
}

/** The value after each undo. */
function undoAll({ text }: TestChannel): string[] {
  const values: string[] = [];
  while (text.undo()) values.push(text.value);
  return values;
}
