/** Values in the storage of the browser may come from another version, or have been edited. */
import { describe, it } from 'node:test';
import { sharedTestSite, startRoom } from '../support/page.ts';

const nonsense = [
  ['rooms', '[null]'],
  ['rooms', '{}'],
  ['language', '"constructor"'],
  ['name', '5'],
  ['device', '"not an id!"'],
  ['theme', 'no JSON'],
] as const;

describe('the page, with invalid values in its storage', () => {
  it('[PAGE-16] opens, and can start a room', async (t) => {
    const site = await sharedTestSite(t);
    for (const kept of nonsense) {
      const device = await site.openDevice();
      await device.page.evaluate(([key, value]) => localStorage.setItem(`poproom:${key}`, value), kept);
      await device.page.reload();
      await startRoom(device);
      await device.context.close();
    }
  });
});
