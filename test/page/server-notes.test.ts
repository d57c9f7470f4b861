/** What the page says about its server: that it is a demonstration. */
import { describe, it } from 'node:test';
import { startRoom, startTestSite } from '../support/page.ts';

describe('the page of a demonstration', () => {
  it('[DEMO-5] says so in every view, and offers no longer lifetime', async (t) => {
    const site = await startTestSite(t, { POPROOM_DEMO: 'true' });
    const device = await site.openDevice();
    const { page } = device;
    const banner = page
      .getByRole('note')
      .getByText('This is a demo. Rooms last 15 minutes at most, files can have up to 1 MB.');
    await banner.waitFor();
    await page.getByText('Options').click();
    await page.getByRole('radio', { name: '15 minutes', checked: true }).waitFor();
    await page.getByRole('radio', { name: '1 hour' }).waitFor({ state: 'detached' });
    await startRoom(device);
    await banner.waitFor();
    await page.getByRole('button', { name: 'Room settings' }).click();
    const dialog = page.getByRole('dialog', { name: 'Room settings' });
    await dialog.getByLabel('Name').waitFor();
    await dialog.getByText('Keep room for').waitFor({ state: 'detached' });
  });
});
