/** At the door of a room that asks for its PIN. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { type BrowserDevice, hasFocus, sharedTestSite, startTestSite, type TestSite, textOf } from '../support/page.ts';
import { holdsPin } from '../support/secrets.ts';
import { typeWhenVisible } from './support/fast-typing.ts';
import { pickFiles } from './support/files.ts';

const field = (page: Page) => page.getByRole('textbox', { name: '4-digit PIN' });
const digit = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describe('the page, the PIN of a room', () => {
  it('[slow] [PAGE-4] is entered on a pad, where the last digit can be deleted', async (t) => {
    const { device } = await openProtectedRoom(t);
    const { page } = device;
    await digit(page, '1').click();
    await digit(page, '2').click();
    await digit(page, '9').click();
    await page.getByRole('button', { name: 'Delete last digit' }).click();
    await digit(page, '0').click();
    await digit(page, '4').click();
    await textOf(device).waitFor();
  });

  it('[slow] [PAGE-4] can be typed immediately, unseen and with corrections, and letters are ignored', async (t) => {
    const { device } = await openProtectedRoom(t);
    const { page } = device;
    await hasFocus(field(page));
    await page.keyboard.type('1x2');
    assert.equal(await field(page).getAttribute('type'), 'password');
    await page.keyboard.press('9');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('04');
    await textOf(device).waitFor();
  });

  it('[slow] [PAGE-4] keeps the first digit, even if it is typed before the page has painted', async (t) => {
    const { device } = await openProtectedRoom(t);
    const { page } = device;
    await typeWhenVisible(page, '.pin-dots input', '12');
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll('.pin-dots [data-filled]').length === 2);
    await field(page).pressSequentially('04');
    await textOf(device).waitFor();
  });

  it('[PAGE-4] that is wrong shows the remaining tries, and the correct one is accepted afterwards', async (t) => {
    const { device } = await openProtectedRoom(t);
    const { page } = device;
    for (const left of [4, 3]) {
      await page.keyboard.type('9999');
      await page
        .getByRole('alert')
        .filter({ hasText: `${left} tries left.` })
        .waitFor();
      await hasFocus(field(page));
      assert.equal(await field(page).inputValue(), '');
    }
    await page.keyboard.type('1204');
    await textOf(device).waitFor();
  });

  it('[slow] [PAGE-4] is locked after five wrong tries, shows for how long, and is unlocked afterwards', async (t) => {
    const { device, site } = await openProtectedRoom(t, startTestSite);
    const { page } = device;
    await page.clock.install();
    await page.reload();
    await enterWrongPins(page, 5);

    await page
      .getByRole('alert')
      .filter({ hasText: /Try again in (30|2\d) seconds\./ })
      .waitFor();
    assert.equal(await field(page).isEditable(), false);
    for (const button of await page.getByRole('main').getByRole('button').all()) assert.ok(await button.isDisabled());
    await page.clock.runFor(10_000);
    await page
      .getByRole('alert')
      .filter({ hasText: /Try again in (20|1\d) seconds\./ })
      .waitFor();

    site.server.clock.advance(31_000);
    await page.clock.runFor(22_000);
    await page.getByRole('alert').filter({ hasText: 'Try again in' }).waitFor({ state: 'detached' });
    await hasFocus(field(page));
    await page.keyboard.type('1204');
    await textOf(device).waitFor();
  });

  it('[slow] [PAGE-4] is not shown as locked for too long, and stays locked across a reload, even for the correct PIN', async (t) => {
    const { device } = await openProtectedRoom(t);
    const { page } = device;
    await enterWrongPins(page, 5);
    const alerts = await page.getByRole('alert').allTextContents();
    assert.doesNotMatch(alerts.join(), /3[1-9] seconds/);
    await page.reload();
    await field(page).pressSequentially('1204');
    await page
      .getByRole('alert')
      .filter({ hasText: /Try again in \d+ seconds\./ })
      .waitFor();
    assert.ok(await digit(page, '1').isDisabled());
  });

  it('[slow] [PAGE-4] is in no URL, and is kept in the tab across a reload, but not for other tabs', async (t) => {
    const { device, code } = await openProtectedRoom(t);
    const { page, context } = device;
    const addresses: string[] = [];
    context.on('request', (request) => addresses.push(request.url()));
    page.on('websocket', (socket) => void addresses.push(socket.url()));
    await page.keyboard.type('1204');
    await textOf(device).fill('a text');
    await page.getByText('Saved').waitFor();
    await pickFiles(page, [{ name: 'a', content: 'a' }]);
    await page.getByRole('button', { name: 'Remove a' }).click();
    await page.getByRole('button', { name: 'Remove a' }).waitFor({ state: 'detached' });

    await page.reload();
    await textOf(device).waitFor();
    addresses.push(page.url());
    assert.ok(addresses.some((address) => address.endsWith('/live')));
    assert.deepEqual(
      addresses.filter((address) => holdsPin(address, '1204')),
      [],
    );
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, document.cookie]));
    assert.ok(!holdsPin(kept, '1204'), kept);

    const next = await context.newPage();
    await next.goto(`/r/${code}`);
    await field(next).waitFor();
  });

  it('[slow] [PAGE-4] is not requested on the device that created the room, and other devices are asked to get it from its creator', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const { page } = device;
    await page.getByText('Options').click();
    await page.getByRole('checkbox', { name: 'Require a PIN' }).check();
    await field(page).fill('1204');
    await page.getByRole('button', { name: 'Start a room' }).click();
    await textOf(device).waitFor();
    await page.getByText('Others need the PIN to join.').waitFor();
    const other = await site.openDevice({ at: new URL(page.url()).pathname });
    await other.page.getByText('Ask the person who started the room for the PIN.').waitFor();
  });
});

async function openProtectedRoom(
  t: TestContext,
  start = sharedTestSite,
): Promise<{ site: TestSite; device: BrowserDevice; code: string }> {
  const site = await start(t);
  const code = await site.server.api.room({ pin: '1204' }, { from: '203.0.113.1' });
  const device = await site.openDevice({ at: `/r/${code}` });
  await device.page.getByRole('heading', { name: `Enter the PIN for room ${code}` }).waitFor();
  return { site, device, code };
}

async function enterWrongPins(page: Page, times: number): Promise<void> {
  for (let tried = 1; tried <= times; tried++) {
    await hasFocus(field(page));
    await page.keyboard.type('9999');
    const message = [/4 tries left\./, /3 tries left\./, /2 tries left\./, /1 try left\./][tried - 1] ?? 'Try again in';
    await page.getByRole('alert').filter({ hasText: message }).waitFor();
  }
}
