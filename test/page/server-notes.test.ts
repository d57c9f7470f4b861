/** The notes of the page about its server: that it is a demonstration, and where to report abuse. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adminEnv, adminOf } from '../support/admin.ts';
import { eventually } from '../support/eventually.ts';
import { joinRoom, startRoom, startTestSite } from '../support/page.ts';

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

describe('the page of a server with a contact for abuse', () => {
  it('[REPORT-5] [PAGE-121] leads to the contact, and reports a room to members and readers', async (t) => {
    const site = await startTestSite(t, { POPROOM_ABUSE_CONTACT: 'abuse@example.org', ...adminEnv });
    const { api } = site.server;
    const { page } = await site.openDevice();
    const link = page.getByRole('link', { name: 'Report abuse' });
    assert.equal(await link.getAttribute('href'), 'mailto:abuse@example.org');
    const room = await api.room({ pin: '0427' });
    const { linkId } = (await api.post(`/api/rooms/${room}/links`, { json: { role: 'read' }, pin: '0427' })).json;
    await page.goto(`/r/${linkId}`);
    await page.getByRole('button', { name: 'Report this room' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report this room' });
    await dialog.getByRole('link', { name: 'abuse@example.org' }).waitFor();
    await dialog.getByRole('radio', { name: 'Illegal content' }).check();
    await dialog.getByLabel('Details').fill('See the second file.');
    await dialog.getByRole('button', { name: 'Send report' }).click();
    await page.getByText('Report sent. Thank you.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    const { reports } = (await adminOf(site.server).get('/reports')).json;
    assert.equal(reports.length, 1);
    assert.deepEqual([reports[0].reason, reports[0].comment], ['illegal', 'See the second file.']);

    const member = await joinRoom(site, await api.room());
    await member.page.setViewportSize({ width: 320, height: 568 });
    await eventually('the button that adds files is not covered', () =>
      member.page.locator('.file-picker button').evaluate((button) => {
        const { left, right, bottom } = button.getBoundingClientRect();
        return button.contains(document.elementFromPoint((left + right) / 2, bottom - 2));
      }),
    );
    await member.page.getByRole('button', { name: 'Report this room' }).click();
    await member.page.getByRole('button', { name: 'Send report' }).click();
    await member.page.getByText('Report sent. Thank you.').waitFor();
  });
});
