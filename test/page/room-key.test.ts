/** The key of an encrypted room in the page: where it is kept, how it is shared and typed. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  codeOf,
  joinRoom,
  sharedTestSite,
  showsStatus,
  showsText,
  textOf,
} from '../support/page.ts';
import { createEncryptedRoom, startEncryptedRoom, startMaliciousSite } from './support/encrypted.ts';
import { readQr } from './support/qr.ts';

const keyField = (page: Page) => page.getByRole('textbox', { name: 'Room key or link' });
const partsOf = (room: string) => room.split('#') as [code: string, key: string];

/** The names and values of what the browser keeps about a room when its tabs are closed. */
const keptOf = ({ page }: Pick<BrowserDevice, 'page'>, code: string) =>
  page.evaluate((code) => Object.entries(localStorage).filter(([name]) => name.endsWith(`:${code}`)), code);

describe('the page, the key of an encrypted room', () => {
  it('[SEALED-71] [SEALED-74] is part of the invitation, and kept where the room was started, so that the tab can be closed', async (t) => {
    const phone = await startAndInvite(t, 390);
    const room = codeOf(phone.page);
    await phone.page.keyboard.press('Escape');
    await textOf(phone).fill('for later');
    await showsStatus(phone, 'Saved');
    const other = { page: await phone.context.newPage(), context: phone.context };
    await phone.page.close();
    await other.page.goto('/');
    await other.page.getByRole('button', { name: room }).first().click();
    await showsText(other, 'for later');
    await other.page.close();
  });

  it('[slow] [SEALED-74] is not kept if the user does not want it, which the question for the key then says', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const { page, context } = laptop;
    await page.getByText('Options').click();
    await page.getByRole('checkbox', { name: 'Encrypt this room' }).check();
    const keeps = page.getByRole('checkbox', { name: 'Remember the key on this device' });
    assert.ok(await keeps.isChecked());
    await keeps.uncheck();
    const [room, key] = partsOf(await startEncryptedRoom(laptop));
    assert.ok(!JSON.stringify(await keptOf(laptop, room)).includes(key));
    const other = { page: await context.newPage(), context };
    await other.page.goto(`/r/${room}`);
    await other.page
      .getByRole('alert')
      .filter({ hasText: 'You started this room on this device but did not keep its key.' })
      .waitFor();

    const kept = other.page.getByRole('checkbox', { name: 'Remember the key on this device' });
    assert.ok(!(await kept.isChecked()), 'others keep it only on request');
    await kept.check();
    await keyField(other.page).fill(key);
    await other.page.keyboard.press('Enter');
    await textOf(other).waitFor();
    assert.ok(JSON.stringify(await keptOf(other, room)).includes(key));
    await other.page.close();
  });

  it('[slow] [SEALED-74] is not lost without a question when the last device leaves', async (t) => {
    const site = await sharedTestSite(t);
    const name = await createEncryptedRoom(site);
    const phone = await joinRoom(site, name);
    const { page } = phone;
    const home = page.getByRole('link', { name: 'Poproom' });
    const question = page.getByRole('dialog', { name: 'Leave without the key?' });
    await page.getByRole('button', { name: 'This room is encrypted' }).waitFor();
    await home.click();
    await question.getByRole('button', { name: 'Stay' }).click();
    await textOf(phone).waitFor();

    // It is shown for a few seconds only.
    const announced = page.getByText('joined', { exact: false }).first().waitFor();
    const second = await joinRoom(site, name);
    await announced;
    await home.click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
    await page.goBack();
    await textOf(phone).waitFor();
    await second.page.close();
    await page.getByText('Waiting for another device').waitFor();
    await home.click();
    await question.getByRole('button', { name: 'Remember key and leave' }).click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
    assert.ok(JSON.stringify(await keptOf(phone, partsOf(name)[0])).includes(partsOf(name)[1]));
  });

  it('[slow] [SEALED-70] belongs to a device that has another id in each encrypted room', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const ids = async (room: string) => {
      proxy.sent.length = 0;
      const device = { page: await phone.context.newPage(), context: phone.context };
      await device.page.goto(`/r/${room}`);
      await textOf(device).fill('typed');
      await showsStatus(device, 'Saved');
      await device.page.close();
      return new Set(proxy.sent.join('\n').match(/(?<="deviceId":")[^"]+/g));
    };
    const phone = await site.openDevice();
    const [plain, one, other] = [
      await site.server.api.room(),
      await createEncryptedRoom(site),
      await createEncryptedRoom(site),
    ];
    const found = [await ids(plain), await ids(one), await ids(other), await ids(one)];
    assert.deepEqual(
      found.map(({ size }) => size),
      [1, 1, 1, 1],
    );
    assert.equal(new Set(found.flatMap((set) => [...set])).size, 3, 'the same id only in the same room');
  });

  it('[slow] [SEALED-71] is part of the invitation on a large screen too', async (t) => {
    await startAndInvite(t, 1280);
  });

  it('[slow] [SEALED-72] is grouped in a page that is written from right to left', async (t) => {
    const site = await sharedTestSite(t);
    const [room] = partsOf(await createEncryptedRoom(site));
    await assertKeyIsGrouped(await site.openDevice({ at: `/r/${room}`, locale: 'ar' }));
  });
});

describe('the page, the time until an encrypted room is shown', () => {
  it('[slow] [SEALED-73] includes no wait for the salt: the page asks for it while the code is loaded', async (t) => {
    const site = await sharedTestSite(t);
    const name = await createEncryptedRoom(site);
    const device = await site.openDevice();
    const asked = device.page.waitForRequest((request) => request.url().endsWith(`/api/rooms/${partsOf(name)[0]}`));
    await device.context.route('**/assets/encryption.*.js', async (route) => {
      await asked;
      await route.continue();
    });
    await device.page.goto(`/r/${name}`);
    await textOf(device).waitFor();
  });

  it('[SEALED-72] [SEALED-73] includes only the live channel after the key is entered, which is grouped while it is typed', async (t) => {
    const site = await sharedTestSite(t);
    const [room, key] = partsOf(await createEncryptedRoom(site));
    const guest = await site.openDevice({ at: `/r/${room}` });
    await assertKeyIsGrouped(guest);
    const asked: string[] = [];
    guest.page.on('request', (request) => asked.push(request.url()));
    const channel = guest.page.waitForEvent('websocket');
    await keyField(guest.page).fill(key);
    await guest.page.keyboard.press('Enter');
    await channel;
    assert.deepEqual(
      asked.filter((url) => !url.includes('crypto-worker')),
      [],
    );
    await textOf(guest).waitFor();
    await eventually('the worker with the keys has ended', () => guest.page.workers().length === 0);
  });
});

/** Starts an encrypted room, whose invitation has the key, with the code, the QR code and the link. */
async function startAndInvite(t: TestContext, width: number): Promise<BrowserDevice> {
  const site = await sharedTestSite(t);
  const device = await site.openDevice({ viewport: { width, height: 800 } });
  const { page } = device;
  const name = await startEncryptedRoom(device);
  const [room, key] = partsOf(name);
  if (width < 600) await page.getByRole('button', { name: 'Invite' }).click();
  const invitation = width < 600 ? page.getByRole('dialog') : page.getByRole('complementary');
  await invitation.getByText(`/r/${name}`).waitFor();
  assert.equal(await readQr(page, 'QR code for this room'), `${site.server.url}/r/${name}`);
  await invitation
    .getByText([...room].join(' '), { exact: true })
    .first()
    .waitFor();
  await invitation.getByText(key.replace(/.{4}(?=.)/g, '$&-'), { exact: true }).waitFor();
  await invitation.getByText('enter the code and the key', { exact: false }).waitFor();
  await invitation.getByText('keeps it in its history', { exact: false }).waitFor();
  await invitation.getByText('Type the key instead').click();
  await invitation.getByText('On a shared computer', { exact: false }).waitFor();
  return device;
}

/** With the caret in its place. */
async function assertKeyIsGrouped({ page }: BrowserDevice): Promise<void> {
  const field = page.locator('.key-input');
  await field.click();
  const shows = async (value: string, caret: number) => {
    assert.equal(await field.inputValue(), value);
    assert.equal(await field.evaluate((input: HTMLInputElement) => input.selectionStart), caret);
  };
  await page.keyboard.type('h4t9wz');
  await shows('H4T9-WZ', 7);
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowLeft');
  await page.keyboard.type('x');
  await shows('H4TX-9WZ', 4);
  await page.keyboard.type('y');
  await shows('H4TX-Y9WZ', 6);
  for (let i = 0; i < 3; i++) await page.keyboard.press('Backspace');
  await shows('H4T9-WZ', 3);
  await field.fill('');
  await page.evaluate(() => {
    const input = document.querySelector('.key-input') as HTMLInputElement;
    input.focus();
    document.execCommand('insertText', false, ' h4t9 wz3b – nq6y rc88 ');
  });
  await shows('H4T9-WZ3B-NQ6Y-RC88', 19);
}
