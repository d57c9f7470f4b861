/** Making a room, getting into one, and finding it again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  codeOf,
  hasFocus,
  joinRoom,
  sharedTestSite,
  startRoom,
  startTestSite,
  textOf,
} from '../support/page.ts';

const codeField = ({ page }: BrowserDevice) => page.getByRole('textbox', { name: 'Code or link' });

describe('the page, a room', () => {
  it('[PAGE-1] [PAGE-7] is started with one click, and another device joins by its link', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const code = await startRoom(laptop);
    const phone = await joinRoom(site, code);

    await textOf(laptop).fill('from the laptop');
    await phone.page.waitForFunction(() => document.querySelector('textarea')?.value === 'from the laptop');
    assert.equal(await textOf(phone).inputValue(), 'from the laptop');
  });

  it('[slow] [SITE-10] leads home from a broken link', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: `/files/${'0'.repeat(32)}/report.pdf` });
    await page.getByRole('heading', { name: 'This file is no longer available' }).waitFor();
    await page.goto('/no/such/page');
    await page.getByRole('heading', { name: 'This page doesn’t exist' }).waitFor();
    await page.getByRole('button', { name: 'Back to home' }).click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
  });

  it('[slow] [PAGE-1] may have a PIN, which must have four digits', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice();
    const asked = apiRequests(page);
    await page.getByText('Options').click();
    await page.getByRole('checkbox', { name: 'Require a PIN' }).check();
    const pin = page.getByRole('textbox', { name: '4-digit PIN' });
    await pin.pressSequentially('1a2b');
    assert.equal(await pin.inputValue(), '12');

    await page.getByRole('button', { name: 'Start a room' }).click();
    await page.getByRole('alert').filter({ hasText: 'Enter a 4-digit PIN.' }).waitFor();
    await hasFocus(pin);
    assert.deepEqual(asked, []);

    await pin.fill('1234');
    await startRoom({ page, context: page.context() });
    const code = codeOf(page);
    assert.equal((await site.server.api.get(`/api/rooms/${code}`)).code, 'PIN_REQUIRED');
    assert.equal((await site.server.api.get(`/api/rooms/${code}`, { pin: '1234' })).json.hasPin, true);
  });

  it('[slow] [PAGE-1] shows errors at their field, even after the options were collapsed', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice();
    await page.getByText('Options').click();
    await page.getByRole('checkbox', { name: 'Require a PIN' }).check();
    await page.getByText('Options').click();
    await page.getByRole('button', { name: 'Start a room' }).click();
    await page.getByRole('textbox', { name: '4-digit PIN' }).waitFor();
  });

  it('[slow] [PAGE-1] is kept for the chosen time, within the limits of the server', async (t) => {
    const site = await startTestSite(t, { POPROOM_ROOM_TTL: '30m', POPROOM_ROOM_MAX_TTL: '90m' });
    const { page, context } = await site.openDevice();
    await page.getByText('Options').click();
    const offered = page.getByRole('group', { name: 'Keep room for' }).getByRole('radio');
    const names = await offered.evaluateAll((radios) => radios.map((radio) => radio.closest('label')?.textContent));
    assert.deepEqual(names, ['10 minutes', '30 minutes', '1 hour']);
    assert.ok(await page.getByRole('radio', { name: '30 minutes' }).isChecked(), "the server's own comes first");

    await page.getByRole('radio', { name: '1 hour' }).check();
    const code = await startRoom({ page, context });
    const { json } = await site.server.api.get(`/api/rooms/${code}`);
    assert.equal(Date.parse(json.expiresAt) - site.server.clock.now, 3_600_000);
  });

  it('[slow] [PAGE-1] is not started while the server is unreachable; the page says so, and the next click retries', async (t) => {
    const site = await sharedTestSite(t);
    const { page, context } = await site.openDevice();
    const start = page.getByRole('button', { name: 'Start a room' });
    await start.waitFor();
    await context.setOffline(true);
    await start.click();
    await page.getByRole('alert').filter({ hasText: 'Can’t reach the server.' }).waitFor();
    await context.setOffline(false);
    await startRoom({ page, context });
  });

  it('[slow] [PAGE-14] is not started over the limit, and the page shows when to try again', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '1' });
    await site.server.api.room();
    const { page } = await site.openDevice();
    await page.getByRole('button', { name: 'Start a room' }).click();
    await page.getByRole('alert').filter({ hasText: 'Try again in 60 minutes.' }).waitFor();
  });

  it('[slow] [PAGE-2] is joined by its code in any case, with dashes and letters that look like digits', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const code = await roomWithLookalikes(site.server.api.room);
    const spelt = code.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l');
    await codeField(device).fill(` ${spelt.slice(0, 3)}-${spelt.slice(3)} `);
    await device.page.getByRole('button', { name: 'Join', exact: true }).click();
    await textOf(device).waitFor();
    assert.equal(codeOf(device.page), code);
  });

  it('[slow] [PAGE-2] is joined with the Enter key, and with a pasted link', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await site.openDevice({ permissions: ['clipboard-read', 'clipboard-write'] });
    await codeField(device).fill(code);
    await codeField(device).press('Enter');
    await textOf(device).waitFor();

    await device.page.goto('/');
    await device.page.evaluate((link) => navigator.clipboard.writeText(link), `See ${site.server.url}/r/${code}?x#y`);
    await codeField(device).press('Control+V');
    await textOf(device).waitFor();
    assert.equal(codeOf(device.page), code);
  });

  it('[slow] [PAGE-2] is left with Back, and joined again with Forward', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const { page } = device;
    const code = await startRoom(device);
    await textOf(device).fill('kept');
    await page.goBack();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
    await page.goForward();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'kept');
    assert.equal(codeOf(page), code);
    // Typed a moment before it left, the text may only be sent now.
    await eventually('the server has the text', async () => {
      const { json } = await site.server.api.get(`/api/rooms/${code}/content`);
      return json.content === 'kept';
    });
  });

  it('[slow] [PAGE-14] is not looked up after too many unknown codes, and the page shows when to try again', async (t) => {
    const site = await startTestSite(t, { POPROOM_MISS_LIMIT: '1' });
    const { page } = await site.openDevice({ at: '/r/ABCDEF' });
    await page.getByRole('heading', { name: 'Room ABCDEF not found' }).waitFor();
    await page.goto('/r/ABCDEG');
    await page.getByRole('heading', { name: /^Too many wrong codes or PINs\. Try again in \d+ minutes\.$/ }).waitFor();
  });

  it('[slow] [PAGE-2] is not looked up for an invalid code, which is reported immediately', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const asked = apiRequests(device.page);
    const problem = device.page.getByRole('alert');

    await codeField(device).press('Enter');
    await problem.filter({ hasText: 'Enter the code shown on the other device.' }).waitFor();
    for (const nonsense of ['ABC', 'hello, world!', 'https://example.org/', '<b>ABCDEF</b>', 'UUUUUU']) {
      await codeField(device).fill(nonsense);
      await eventually('typing takes the words back', async () => (await problem.allTextContents()).join('') === '');
      await device.page.getByRole('button', { name: 'Join', exact: true }).click();
      await problem.filter({ hasText: 'Invalid room code.' }).waitFor();
    }
    await hasFocus(codeField(device));

    await device.page.goto('/r/ABC-DE');
    await device.page.getByRole('heading', { name: '“ABC-DE” is not a valid room code' }).waitFor();
    assert.deepEqual(asked, []);
  });

  it('[PAGE-6] [PAGE-112] shows the remaining time, and counts the seconds in the last ten minutes', async (t) => {
    const site = await sharedTestSite(t);
    // The clock must be installed before the page is loaded.
    const device = await site.openDevice({ at: '/api/health' });
    await device.page.clock.install();
    await device.page.goto(`/r/${await site.server.api.room({ expiresIn: 690 })}`);
    const left = device.page.locator('time');
    await left.getByText(/^1[12] min left$/).waitFor();
    await device.page.clock.runFor(100_000);
    await left.getByText(/^9:\d\d left$/).waitFor();
  });

  for (const [wrong, hours] of [
    ['ahead', 6],
    ['behind', -6],
  ] as const) {
    it(`[slow] [PAGE-6] shows the remaining time by the clock of the server if that of the device is ${wrong}`, async (t) => {
      const site = await sharedTestSite(t);
      const { page } = await site.openDevice({ at: '/api/health' });
      await page.clock.install({ time: Date.now() + hours * 3_600_000 });
      await page.goto(`/r/${await site.server.api.room({ expiresIn: 3_700 })}`);
      await eventually('it is that', async () => {
        return /^6[12] min left$/.test((await page.locator('time').textContent()) ?? '');
      });
      await page.goto('/');
      await page.getByText('62 minutes left').or(page.getByText('61 minutes left')).waitFor();
    });
  }

  it('[PAGE-16] is listed when the page is opened again, and can be removed from the list with one click, with undo', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const { page } = device;
    const first = await startRoom(device);
    await page.getByRole('link', { name: 'Poproom home' }).click();
    const second = await startRoom(device);
    await page.goto('/');

    const recent = page.getByRole('listitem');
    await eventually('both rooms are listed', async () => (await recent.count()) === 2);
    assert.match((await recent.allInnerTexts()).join(' '), new RegExp(`${second}\\s+24 hours left.*${first}`, 's'));

    await page.getByRole('button', { name: `Remove room ${first} from this list` }).click();
    await eventually('one room is removed from the list', async () => (await recent.count()) === 1);
    assert.equal(await page.evaluate((code) => JSON.stringify({ ...localStorage }).includes(code), first), false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.reload();
    await page.getByRole('button', { name: new RegExp(`^${first}`) }).click();
    await textOf(device).waitFor();
    assert.equal(codeOf(page), first);
  });
});

/** Records the requests of the page to the API from now on. */
function apiRequests(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api')) asked.push(request.url());
  });
  page.on('websocket', (socket) => void asked.push(socket.url()));
  return asked;
}

/** Codes are drawn at random; nearly every third has a 0 or a 1. */
async function roomWithLookalikes(make: () => Promise<string>): Promise<string> {
  for (;;) {
    const code = await make();
    if (/[01]/.test(code)) return code;
  }
}
