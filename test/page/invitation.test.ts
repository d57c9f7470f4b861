/** How a room asks others in: its code, its link, its QR code, the system's share sheet. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  joinRoom,
  sharedTestSite,
  showsText,
  startRoom,
  startTestSite,
  textOf,
} from '../support/page.ts';
import { decodePicture, readQr } from './support/qr.ts';

declare global {
  interface Window {
    handedOver: ShareData[];
  }
}

describe('the page, the invitation', () => {
  it('[slow] [PAGE-3] shows the code in large letters, and the link', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code);
    const spelt = device.page.getByText([...code].join(' '), { exact: true });
    await spelt.waitFor({ state: 'attached' });
    const shown = spelt.locator('..').locator('[aria-hidden]');
    assert.equal((await shown.allInnerTexts()).join(''), code);
    const size = await shown.first().evaluate((part) => Number.parseFloat(getComputedStyle(part).fontSize));
    assert.ok(size >= 28, `${size} px`);
    await device.page.getByText(`127.0.0.1:${site.server.port}/r/${code}`, { exact: true }).waitFor();
  });

  it('[slow] [PAGE-3] copies the code and the link', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code, { permissions: ['clipboard-read', 'clipboard-write'] });
    assert.equal(await device.page.evaluate(() => isSecureContext), true);
    await assertCopies(device, 'Copy code', code, 'Invite');
    await assertCopies(device, 'Copy link', `${site.server.url}/r/${code}`);
  });

  it('[slow] [PAGE-3] copies over plain HTTP, where browsers have no clipboard API', async (t) => {
    const site = await startTestSite(t, {}, { host: 'poproom.test' });
    const code = await site.server.api.room();
    const device = await joinRoom(site, code);
    assert.equal(await device.page.evaluate(() => isSecureContext), false);
    await assertCopies(device, 'Copy code', code, 'Invite');
    await assertCopies(device, 'Copy link', `http://poproom.test:${site.server.port}/r/${code}`);
  });

  it('[slow] [PAGE-9] copies a text unchanged over plain HTTP: tabs, spaces and empty lines', async (t) => {
    const site = await startTestSite(t, {}, { host: 'poproom.test' });
    const device = await joinRoom(site, await site.server.api.room());
    const text = 'if (a) {\n\tb  =  c;\n\n    d;  \n}\n';
    await textOf(device).fill(text);
    await assertCopies(device, 'Copy all', text);
  });

  it('[slow] [PAGE-3] shows a QR code of the link, in the light and dark theme', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code);
    for (const colorScheme of ['light', 'dark'] as const) {
      await device.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      assert.equal(await readQr(device.page, 'QR code for this room'), `${site.server.url}/r/${code}`);
    }
  });

  it('[slow] [PAGE-3] copies the QR code as a picture', async (t) => {
    const site = await sharedTestSite(t);
    const { page, context } = await site.openDevice({ permissions: ['clipboard-read', 'clipboard-write'] });
    const code = await startRoom({ page, context });
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('button', { name: 'Copy QR code' }).click();
    await page.getByText('Copied.').waitFor();
    assert.equal(await decodePicture(page, Uint8Array.from(await copiedPicture(page))), `${site.server.url}/r/${code}`);
  });

  it('[slow] [PAGE-3] opens the share sheet of the system if there is one', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const { page, context } = device;
    await context.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'share'));
    await page.reload();
    const code = await startRoom(device);
    const share = page.getByRole('button', { name: 'Share', exact: true });
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('button', { name: 'Copy code' }).waitFor();
    assert.equal(await share.count(), 0);

    await context.addInitScript(() => {
      window.handedOver = [];
      navigator.share = async (data) => {
        window.handedOver.push(data ?? {});
        throw new DOMException('the person closed the sheet', 'AbortError');
      };
    });
    await page.reload();
    await page.getByRole('button', { name: 'Invite' }).click();
    await share.click();
    const handedOver = await eventually('the sheet is opened', () =>
      page.evaluate(() => window.handedOver.length > 0 && window.handedOver),
    );
    assert.deepEqual(
      handedOver.map(({ url }) => url),
      [`${site.server.url}/r/${code}`],
    );
  });

  it('[slow] [PAGE-3] [PAGE-53] hides the QR code when another device joins; Invite shows it again', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code);
    const qr = device.page.getByRole('img', { name: 'QR code for this room' });
    await qr.waitFor();
    const phone = await joinRoom(site, code);
    await qr.waitFor({ state: 'hidden' });
    await phone.page.close();
    await device.page.getByText('Waiting for another device…').waitFor();
    assert.equal(await qr.count(), 0, 'it stays folded');
    await device.page.getByRole('button', { name: 'Invite' }).click();
    await qr.waitFor();
  });

  it('[PAGE-3] [PAGE-53] is shown on the whole screen, with a QR code that fills it', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code, { viewport: { width: 390, height: 844 } });
    const { page } = device;
    for (const [width, height] of [
      [390, 844],
      [1280, 800],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.getByRole('button', { name: 'Invite' }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite' });
      await dialog.locator('.qr path[d^="M"]').waitFor();
      const box = await dialog.getByRole('img', { name: 'QR code for this room' }).boundingBox();
      assert.ok((box?.width ?? 0) >= 0.5 * Math.min(width, height), `${box?.width} of ${width} × ${height}`);
      assert.equal(await dialog.evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight), false);
      await dialog.getByText([...code].join(' '), { exact: true }).waitFor({ state: 'attached' });
      await dialog.getByText(`/r/${code}`).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  });
});

/** By pasting it as a person would. */
async function assertCopies(device: BrowserDevice, button: string, expected: string, dialog?: string): Promise<void> {
  const { page } = device;
  const field = textOf(device);
  if (dialog) await page.getByRole('button', { name: dialog, exact: true }).click();
  await page.getByRole('button', { name: button, exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Copied.' }).waitFor();
  if (dialog) await page.keyboard.press('Escape');
  await field.fill('');
  await field.press('Control+V');
  await showsText(device, expected);
}

function copiedPicture(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    const picture = await (item as ClipboardItem).getType('image/png');
    return [...new Uint8Array(await picture.arrayBuffer())];
  });
}
