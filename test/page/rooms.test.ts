/** Making a room, and getting into one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinRoom, openWorld, startRoom, textOf } from '../support/page.ts';

describe('the page, a room', () => {
  it('[PAGE-1] [PAGE-7] is started with one click, and another device is in it by its link', async (t) => {
    const world = await openWorld(t);
    const laptop = await world.device();
    const code = await startRoom(laptop);
    const phone = await joinRoom(world, code);

    await textOf(laptop).fill('from the laptop');
    await phone.page.waitForFunction(() => document.querySelector('textarea')?.value === 'from the laptop');
    assert.equal(await textOf(phone).inputValue(), 'from the laptop');
  });
});
