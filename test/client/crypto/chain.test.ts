/** A server that rolls back, forks, drops or reorders versions is noticed by devices that saw more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  advanceChain,
  type ChainPosition,
  chainStart,
  openEdits,
  openText,
  sealEdits,
  sealSnapshot,
  sealText,
} from '../../../src/client/crypto/index.ts';
import { room, throwsWith } from './encrypted-room.ts';

const insertion = (insert: string) => [{ from: 0, to: 0, insert }];

/** A text and edits of it, as a server would store them: the first is version 1. */
function writeLog(inserts: readonly string[], start: ChainPosition = chainStart) {
  const log: string[] = [];
  let position = start;
  for (const insert of inserts) {
    const sealed =
      position === chainStart ? sealText(room, position, insert) : sealEdits(room, position, insertion(insert));
    log.push(sealed);
    position = advanceChain(position, open(position.version + 1, sealed).link);
  }
  return { log, position };
}

const open = (version: number, sealed: string) =>
  version === 1 ? openText(room, version, sealed) : openEdits(room, version, sealed);

/** Opens the log from a version on, as a device that has seen `seen` would. */
function readLog(log: readonly string[], seen: ChainPosition | undefined, from = 1): ChainPosition | undefined {
  return log.reduce((position, sealed, index) => advanceChain(position, open(from + index, sealed).link), seen);
}

describe('the chain of versions', () => {
  const { log, position } = writeLog(['one', 'two', 'three', 'four']);

  it('[CRYPT-5] leads every device to the same position, from the start or from any version', () => {
    assert.equal(position.version, 4);
    assert.deepEqual(readLog(log, chainStart), position);
    assert.deepEqual(readLog(log, undefined), position);
    const seen = readLog(log.slice(0, 2), chainStart);
    assert.deepEqual(readLog(log.slice(2), JSON.parse(JSON.stringify(seen)), 3), position);
    assert.deepEqual(readLog(log.slice(3), position, 4), position, 'the same version again');
  });

  it('[CRYPT-5] rejects an older version than the device has seen', () => {
    throwsWith('ROLLBACK', () => readLog(log.slice(0, 1), position));
    throwsWith('ROLLBACK', () => readLog(log.slice(2, 3), position, 3));
    throwsWith('ROLLBACK', () => advanceChain(position, { ...chainStart, previous: undefined }));
  });

  it('[CRYPT-5] rejects another version with the same number, and one that continues another', () => {
    const other = writeLog(['one', 'two', 'three', 'four', 'five']);
    throwsWith('FORK', () => readLog(other.log.slice(3, 4), position, 4));
    throwsWith('FORK', () => readLog(other.log.slice(4), position, 5));
    throwsWith('FORK', () => readLog([...log.slice(0, 2), ...other.log.slice(2)], chainStart));
    const replaced = sealText(room, { version: 4, hash: other.position.hash }, 'replaced');
    throwsWith('FORK', () => advanceChain(position, openText(room, 5, replaced).link));
    const first = sealText(room, { version: 0, hash: position.hash }, 'first');
    throwsWith('FORK', () => advanceChain(chainStart, openText(room, 1, first).link));
  });

  it('[CRYPT-5] does not let a server change the order of versions or repeat one as the next', () => {
    const reordered = [log[0], log[2], log[1], log[3]] as string[];
    throwsWith('DATA_DAMAGED', () => readLog(reordered, chainStart));
    throwsWith('DATA_DAMAGED', () => readLog([...log, log[3] as string], chainStart));
    throwsWith('DATA_DAMAGED', () => readLog([...log.slice(0, 2), ...log.slice(3)], chainStart));
  });

  it('[CRYPT-5] accepts a version after a gap, which a device that was away cannot check', () => {
    const seen = readLog(log.slice(0, 1), chainStart);
    assert.deepEqual(readLog(log.slice(2), seen, 3), position);
  });

  it('[CRYPT-6] continues after a snapshot that replaces the log', () => {
    const snapshot = openText(room, 4, sealSnapshot(room, position, 'four three two one'));
    assert.equal(snapshot.text, 'four three two one');
    assert.deepEqual(advanceChain(undefined, snapshot.link), position, 'a new device');
    assert.deepEqual(advanceChain(position, snapshot.link), position, 'a device with the log');
    const next = openEdits(room, 5, sealEdits(room, position, insertion('five')));
    const after = advanceChain(advanceChain(undefined, snapshot.link), next.link);
    assert.equal(after.version, 5);
    throwsWith('ROLLBACK', () => advanceChain(after, snapshot.link));
    const foreign = openText(room, 4, sealSnapshot(room, { version: 4, hash: 'A'.repeat(22) }, 'other'));
    throwsWith('FORK', () => advanceChain(position, foreign.link));
    throwsWith('FORK', () => advanceChain(advanceChain(undefined, foreign.link), next.link));
  });
});
