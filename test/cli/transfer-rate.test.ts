/** The speed and the time left that a progress bar shows. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTransferRate, type TransferRate } from '../../src/cli/progress.ts';

/** A rate with a clock, in seconds, that the test sets. */
function rateOf(total: number) {
  let seconds = 0;
  const rate = createTransferRate(total, () => seconds * 1000);
  return {
    rate,
    at(second: number, bytes?: number): ReturnType<TransferRate['current']> {
      seconds = second;
      if (bytes !== undefined) rate.record(bytes);
      return rate.current();
    },
  };
}

describe('the speed of a transfer', () => {
  it('[CLI-11] is that of the last seconds, not the average since the start', () => {
    const { rate, at } = rateOf(10_000);
    at(0, 0);
    for (let second = 1; second <= 10; second++) at(second, second * 10);
    const { speed, secondsLeft } = at(10);
    assert.deepEqual([speed, secondsLeft], [10, 990]);
    for (let second = 11; second <= 20; second++) at(second, 100 + (second - 10) * 500);
    assert.deepEqual(at(20), { bytes: 5100, speed: 500, secondsLeft: 9.8 });
    assert.equal(rate.average(), 500);
  });

  it('[CLI-11] does not count bytes that the server had before', () => {
    const { rate, at } = rateOf(2000);
    at(1, 1000);
    assert.deepEqual(at(1), { bytes: 1000, speed: 0, secondsLeft: undefined });
    assert.deepEqual(at(3, 1200), { bytes: 1200, speed: 100, secondsLeft: 8 });
    at(11, 2000);
    assert.equal(rate.average(), 100);
  });

  it('[CLI-11] holds between large parts, counts the time down, and falls to 0 in a stall', () => {
    const { at } = rateOf(4000);
    at(0, 0);
    at(3, 300);
    at(6, 600);
    assert.deepEqual(at(9, 900), { bytes: 900, speed: 100, secondsLeft: 31 });
    assert.deepEqual(at(11), { bytes: 900, speed: 100, secondsLeft: 29 });
    assert.deepEqual(at(15), { bytes: 900, speed: 0, secondsLeft: undefined });
  });

  it('[CLI-11] is measured with few samples, however often it is recorded', () => {
    const before = process.cpuUsage();
    const { at } = rateOf(1_000_000);
    for (let i = 0; i <= 200_000; i++) at(i / 20_000, i);
    assert.equal(Math.round(at(10).speed / 1000), 20);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 5_000_000, `${user + system} microseconds`);
  });
});
