/** The end of a room: the message on each device, and the data that is left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  askToDelete,
  type BrowserDevice,
  joinRoom,
  sharedTestSite,
  startRoom,
  startTestSite,
  textOf,
} from '../support/page.ts';

describe('the page, the end of a room', () => {
  it('[slow] [PAGE-13] needs a confirmation, which can be cancelled', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code);
    const { page } = device;
    const question = page.getByRole('dialog', { name: `Delete room ${code}?` });
    for (const back of ['Cancel', 'Close']) {
      await askToDelete(page);
      await question.getByRole('button', { name: back }).click();
      await question.waitFor({ state: 'detached' });
    }
    await askToDelete(page);
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    assert.equal((await site.server.api.get(`/api/rooms/${code}`)).status, 200);
    await textOf(device).fill('still here');
  });

  it('[PAGE-13] is shown on every device, and their data of the room is removed', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    await askToDelete(laptop.page);
    await laptop.page.getByRole('button', { name: 'Delete', exact: true }).click();

    for (const device of [laptop, phone]) {
      await assertEndShown(device, 'This room was deleted', 'deleted for everyone');
      assert.equal(
        await device.page.evaluate((code) => JSON.stringify({ ...localStorage }).includes(code), code),
        false,
      );
    }
    assert.equal((await site.server.api.get(`/api/rooms/${code}`)).code, 'ROOM_NOT_FOUND');
    await phone.page.getByRole('main').getByRole('button', { name: 'Back to home' }).click();
    await startRoom(phone);
  });

  it('[slow] [PAGE-13] that failed is reported, and the room stays', async (t) => {
    const site = await sharedTestSite(t);
    const device = await joinRoom(site, await site.server.api.room());
    const { page } = device;
    await page.route('**/api/rooms/*', (route) => route.abort());
    await askToDelete(page);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'Can’t reach the server.' }).waitFor();
    await textOf(device).waitFor();
  });

  it('[slow] [PAGE-13] by expiry is shown to connected devices and to later visitors', async (t) => {
    const site = await startTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code);
    site.server.clock.advance(24 * 3_600_000);
    await assertEndShown(device, 'This room has expired', 'have been deleted');

    const late = await site.openDevice({ at: `/r/${code}` });
    await assertEndShown(late, 'This room has expired', 'have been deleted');
    site.server.clock.advance(24 * 3_600_000);
    await late.page.reload();
    await assertEndShown(late, `Room ${code} not found`, 'Check the code on the other device.');
  });

  it('[PAGE-13] is not shown for an unknown code: the page says so and links to the start', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice({ at: '/r/abc-def' });
    await assertEndShown(device, 'Room ABCDEF not found', 'Check the code on the other device.');
    await device.page.getByRole('main').getByRole('button', { name: 'Back to home' }).click();
    await device.page.getByRole('button', { name: 'Start a room' }).waitFor();
    assert.equal(await device.page.getByText('Recent rooms').count(), 0);
  });

  it('[slow] [PAGE-13] while a device was offline is shown when it reconnects', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code);
    await device.context.setOffline(true);
    await device.page.getByText('No connection.').waitFor();
    await site.server.api.delete(`/api/rooms/${code}`);
    await device.context.setOffline(false);
    await assertEndShown(device, 'This room was deleted', 'deleted for everyone');
  });
});

async function assertEndShown({ page }: BrowserDevice, title: string, words: string): Promise<void> {
  const main = page.getByRole('main');
  await main.getByRole('heading', { name: title, level: 1 }).waitFor();
  await main.getByText(words).waitFor();
  assert.equal(await page.locator('textarea').count(), 0);
}
