/** How often a store is asked whether it responds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { watchOutages } from '../../src/core/health.ts';

describe('the watch for outages', () => {
  it('[OPS-11] asks a store that responds once per interval, however many requests fail', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    const lines: string[] = [];
    const write = (_: object, message: string) => void lines.push(message);
    const log = { debug: write, info: write, warn: write, error: write };
    const asked = { rooms: 0, files: 0 };
    let isLost = false;
    const files = async () => {
      asked.files += 1;
      if (isLost) throw new Error('lost');
    };
    const rooms = async () => {
      asked.rooms += 1;
      throw new Error('lost from the start');
    };
    const { suspect, stop } = watchOutages({ stores: { rooms, files }, log, monotonic: () => now, everyMs: 1000 });
    const failAndPass = async (ms: number) => {
      for (let n = 0; n < 5; n++) {
        suspect();
        await setImmediate();
      }
      now += ms;
      t.mock.timers.tick(ms);
      await setImmediate();
    };

    await failAndPass(999);
    assert.deepEqual(asked, { rooms: 1, files: 1 });
    await failAndPass(1);
    assert.deepEqual(asked, { rooms: 2, files: 2 });
    assert.deepEqual(lines, ['store lost']);

    // A failure soon after a response is noticed, even if no other request fails.
    isLost = true;
    suspect();
    now += 1000;
    t.mock.timers.tick(1000);
    await setImmediate();
    assert.deepEqual([asked.files, lines], [3, ['store lost', 'store lost']]);
    stop();
  });
});
