/** A server that rolls back, forks, drops or reorders versions is noticed by devices that saw more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  advanceChain,
  chainStart,
  openEdits,
  openText,
  sealEdits,
  sealSnapshot,
  sealText,
} from '../../../src/client/crypto/text-chain.ts';
import type { SeenVersion } from '../../../src/protocol/sealed.ts';
import { room, throwsWith } from './encrypted-room.ts';

const insertion = (insert: string) => [{ from: 0, to: 0, insert }];

/** A text and edits of it, as a server would store them: the first is version 1. */
function writeLog(inserts: readonly string[], start: SeenVersion = chainStart) {
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
function readLog(log: readonly string[], seen: SeenVersion | undefined, from = 1): SeenVersion | undefined {
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
    throwsWith('ROLLBACK', () => advanceChain(position, chainStart));
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

  it('[CRYPT-5] accepts an edit after a gap, which a device that was away cannot check', () => {
    const seen = readLog(log.slice(0, 1), chainStart);
    assert.equal(readLog(log.slice(2), seen, 3)?.hash, position.hash);
  });

  it('[CRYPT-11] is compared with the hashes in a full text after a gap', () => {
    const other = writeLog(['one', 'two', 'three', 'four']).position;
    const seen = readLog(log.slice(0, 2), chainStart);
    const full = (after: SeenVersion) => openText(room, after.version + 1, sealText(room, after, 'new')).link;
    const snapshot = (at: SeenVersion) => openText(room, at.version, sealSnapshot(room, at, 'new')).link;
    for (const seal of [full, snapshot]) {
      assert.equal(advanceChain(seen, seal(position)).version, seal(position).version);
      throwsWith('FORK', () => advanceChain(seen, seal(other)));
    }
    throwsWith('FORK', () => advanceChain(readLog(log.slice(0, 3), chainStart), snapshot(other)));
    // Version 5 is not in the list of the other, but version 4 is.
    const before = { ...position, version: 5, hash: 'AQEBAQEBAQEBAQEBAQEBAQ', earlier: [position.hash] };
    throwsWith('FORK', () =>
      advanceChain(before, { version: 70, hash: before.hash, earlier: listTo(70, 4, other.hash) }),
    );
    assert.equal(
      advanceChain(before, { version: 70, hash: before.hash, earlier: listTo(70, 4, position.hash) }).version,
      70,
    );
  });

  /** The hashes before a version, down to one with this hash. All others are those of `before` above. */
  const listTo = (version: number, last: number, hash: string) =>
    Array.from({ length: version - last }, (_, index) =>
      version - index - 1 === last ? hash : 'AQEBAQEBAQEBAQEBAQEBAQ',
    );

  it('[CRYPT-11] remembers 64 versions, and ends at the first unknown one', () => {
    const long = writeLog(Array.from({ length: 100 }, (_, n) => `${n}`));
    assert.equal(long.position.earlier?.length, 64);
    assert.equal(long.position.earlier?.[63], readLog(long.log.slice(0, 36), chainStart)?.hash);
    const after = advanceChain(
      position,
      openText(room, 100, sealSnapshot(room, { ...long.position, earlier: [] }, '')).link,
    );
    assert.deepEqual(after, { version: 100, hash: long.position.hash });
    const short = advanceChain(position, {
      version: 6,
      hash: 'AQEBAQEBAQEBAQEBAQEBAQ',
      earlier: ['AgICAgICAgICAgICAgICAg'],
    });
    assert.deepEqual(short.earlier, ['AgICAgICAgICAgICAgICAg', position.hash, ...(position.earlier ?? [])]);
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
