/** When a device stores a version of the text of an encrypted room. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createCompaction } from '../../src/client/sealed/compaction.ts';

/** Returns the versions that were sent as snapshots. */
function start(t: TestContext, version = 1) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sent: number[] = [];
  const text = { version };
  const compaction = createCompaction(() => ({ content: 'pop1.', version: text.version }));
  compaction.onConnected((message) => sent.push('version' in message ? (message.version ?? 0) : 0));
  const write = (isAsked = false) => {
    text.version += 1;
    compaction.onWritten(isAsked, text.version);
  };
  return { compaction, sent, write };
}

const remove = (from: number, to: number) => [{ from, to, insert: '' }];

describe('versions of the text of an encrypted room', () => {
  it('[slow] [SEALED-44] are stored after 30 seconds of changes, once', (t) => {
    const { sent, write } = start(t);
    write();
    t.mock.timers.tick(29_000);
    write();
    t.mock.timers.tick(2_000);
    assert.deepEqual(sent, []);
    write();
    t.mock.timers.tick(2_000);
    assert.deepEqual(sent, [4]);
    write();
    t.mock.timers.tick(2_000);
    assert.deepEqual(sent, [4], 'the next one after 30 seconds');
  });

  it('[HIST-5] are stored after 3 seconds of changes on the device that started the text, until there is one', (t) => {
    const { sent, write } = start(t, 0);
    const changeFor = (ms: number) => {
      write();
      t.mock.timers.tick(ms);
      write();
      t.mock.timers.tick(2_000);
    };
    changeFor(3_000);
    assert.deepEqual(sent, [2]);
    changeFor(3_000);
    assert.deepEqual(sent, [2, 4], 'the second one turns the first into a version');
    changeFor(3_000);
    assert.deepEqual(sent, [2, 4], 'the next one after 30 seconds');
  });

  it('[SEALED-44] are stored before and after an edit that removes much, and not for others', (t) => {
    const { compaction, sent, write } = start(t);
    compaction.onEdit(remove(0, 9), 20);
    compaction.onEdit(remove(0, 19), 19);
    assert.deepEqual(sent, [], 'less than half, or a short text');
    compaction.onEdit(remove(0, 10), 20);
    assert.deepEqual(sent, [1], 'the text before it');
    write();
    // A response that does not ask for a snapshot cancels only the ones that the server has asked for.
    write();
    t.mock.timers.tick(500);
    assert.deepEqual(sent, [1, 3], 'the text after it replaces that one');
    compaction.onEdit(remove(0, 1000), 5000);
    assert.deepEqual(sent, [1, 3], 'a part of a long text at most every 5 seconds');
    t.mock.timers.tick(5_000);
    compaction.onEdit(remove(0, 1000), 5000);
    assert.deepEqual(sent, [1, 3, 3]);
  });

  it('[SEALED-44] wait for the connection', (t) => {
    const { compaction, sent, write } = start(t);
    compaction.onDisconnected();
    compaction.onEdit(remove(0, 20), 20);
    write(true);
    t.mock.timers.tick(60_000);
    assert.deepEqual(sent, []);
  });
});
