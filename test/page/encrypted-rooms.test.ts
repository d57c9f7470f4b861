/** Encrypted rooms in the page: how they are started, joined and kept, and what it says about them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { generateRoomKey, parseRoomKey } from '../../src/client/crypto/room-key.ts';
import { EncryptionError } from '../../src/client/error.ts';
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
import { createEncryptedRoom, roomOf, startEncryptedRoom } from './support/encrypted.ts';
import { readQr } from './support/qr.ts';

const showsHeading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const showsAlert = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();
const keyField = (page: Page) => page.getByRole('textbox', { name: 'Room key or link' });
const partsOf = (room: string) => room.split('#') as [code: string, key: string];

/** Everything that the browser keeps when its tabs are closed. */
const keptBy = ({ page }: BrowserDevice) => page.evaluate(() => JSON.stringify({ ...localStorage }));

async function enterKey(page: Page, key: string): Promise<void> {
  await keyField(page).fill(key);
  await page.getByRole('button', { name: 'Open room' }).click();
}

async function openLock({ page }: BrowserDevice) {
  await page.getByRole('button', { name: 'This room is encrypted' }).click();
  return page.getByRole('dialog', { name: 'This room is encrypted' });
}

describe('the page, encrypted rooms', () => {
  it('[SEALED-61] are started with one tick, and keep the key until the user removes it', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const name = await startEncryptedRoom(laptop);
    const [code, key] = partsOf(name);
    const { page, context } = laptop;
    assert.equal(await readQr(page, 'QR code for this room'), `${site.server.url}/r/${name}`);
    await textOf(laptop).fill('for us only');
    await showsStatus(laptop, 'Saved');

    const dialog = await openLock(laptop);
    await dialog.getByText(key.replace(/.{4}(?=.)/g, '$&-')).waitFor();
    const keeps = dialog.getByRole('checkbox', { name: 'Remember the key on this device' });
    await keeps.uncheck();
    assert.ok(!(await keptBy(laptop)).includes(key), 'the key is not kept');
    await keeps.check();
    await page.keyboard.press('Escape');
    const other = await context.newPage();
    await other.goto(`/r/${code}`);
    await showsText({ page: other, context }, 'for us only');
    await other.getByRole('link', { name: 'Poproom home' }).click();
    const recent = other.getByRole('button', { name: code }).first();
    assert.doesNotMatch(await recent.innerText(), /for us/);
    await other.getByRole('button', { name: `Remove room ${code} from this list` }).click();
    // The other page may have its own process, whose changes arrive later.
    await eventually('the key is removed with the room', async () => !(await keptBy(laptop)).includes(key));
    await other.close();
  });

  it('[SEALED-62] ask for the key, and tell a typo, a wrong key and an unknown room apart', async (t) => {
    const site = await sharedTestSite(t);
    const [code, key] = partsOf(await createEncryptedRoom(site));
    const device = await site.openDevice();
    const { page } = device;
    await page.getByRole('textbox', { name: 'Code or link' }).fill(code);
    await page.keyboard.press('Enter');
    await showsHeading(page, `Enter the key for room ${code}`);
    await showsAlert(page, 'This room is encrypted.');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await enterKey(page, '');
    await showsAlert(page, 'A key has 16 letters and digits');
    await enterKey(page, 'nonsense');
    await showsAlert(page, 'A key has 16 letters and digits');
    await enterKey(page, mistyped(key));
    await showsAlert(page, 'This key has a typo.');
    assert.deepEqual(
      asked.filter((url) => url.includes('/api/')),
      [],
      'a typo costs no try',
    );

    await enterKey(page, generateRoomKey());
    await showsAlert(page, 'Wrong key. 4 tries left.');
    await enterKey(page, ` ${key.toLowerCase().replace(/.{4}/g, '$& ')}`);
    await textOf(device).waitFor();
    await page.goto(`/r/ABCDEF#${key}`);
    await showsHeading(page, 'Room ABCDEF not found');
  });

  it('[slow] [SEALED-62] take the key from a link that is pasted, or opened while they ask', async (t) => {
    const site = await sharedTestSite(t);
    const [name, otherName] = [await createEncryptedRoom(site), await createEncryptedRoom(site)];
    const [code, key] = partsOf(name);
    const device = await site.openDevice({ at: `/r/${code}` });
    await keyField(device.page).waitFor();
    await device.page.goto(`/r/${code}#${key}`);
    await textOf(device).waitFor();
    assert.equal(codeOf(device.page), code);

    const second = await site.openDevice({ at: `/r/${code}` });
    await enterKey(second.page, `Join me: ${site.server.url}/r/${otherName}`);
    await textOf(second).waitFor();
    assert.equal(codeOf(second.page), partsOf(otherName)[0]);
  });

  // Each page that opens such a room derives its keys, so these rules share a room.
  it('[SEALED-60] [SEALED-65] are opened by a link, keep the key and unsent edits, and keep the text of a deleted room', async (t) => {
    const site = await sharedTestSite(t);
    const name = await createEncryptedRoom(site);
    const [code, key] = partsOf(name);
    const room = roomOf(site, name);
    await room.write('from the script');
    const phone = await joinRoom(site, name);
    const { page, context } = phone;
    await showsText(phone, 'from the script');
    assert.equal(codeOf(page), code, 'the key leaves the address bar');
    await textOf(phone).fill('from the page');
    await eventually('the text is stored', async () => (await room.read()).content === 'from the page');
    await room.append('!');
    await showsText(phone, 'from the page!');
    await page.reload();
    await showsText(phone, 'from the page!');

    await context.setOffline(true);
    await showsStatus(phone, 'Offline');
    await textOf(phone).fill('written in the tunnel');
    await eventually('the draft is stored', async () => /draft:/.test(await keptBy(phone)));
    assert.ok(!(await keptBy(phone)).includes('tunnel'), 'the draft is sealed');
    // As after a crash. A page that closes would send its edits.
    const next = { page: await context.newPage(), context };
    await page.close({ runBeforeUnload: false });
    await context.setOffline(false);
    await next.page.goto(`/r/${code}`);
    await enterKey(next.page, key);
    await showsText(next, 'written in the tunnel');
    await eventually('it is stored', async () => (await room.read()).content === 'written in the tunnel');
    await eventually('the draft is removed', async () => !/draft:/.test(await keptBy(next)));

    await next.page.getByRole('button', { name: 'Room settings' }).click();
    const dialog = next.page.getByRole('dialog', { name: 'Room settings' });
    await dialog.getByRole('textbox', { name: 'Room name' }).fill('Travel plans');
    await dialog.getByRole('radio', { name: '1 hour' }).check();
    assert.equal(await dialog.getByRole('group', { name: 'PIN' }).count(), 0, 'it has a key instead of a PIN');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await next.page.getByText('This room is now called “Travel plans”.').waitFor();
    assert.equal((await room.info()).name, 'Travel plans');

    await room.delete();
    await showsHeading(next.page, 'This room was deleted');
    await next.page.getByText('Your text is still here until you leave this page.').waitFor();
    await next.page.close();
  });

  it('[slow] [SEALED-65] keep unsent edits and the key whatever the server says, until the user removes them', async (t) => {
    const site = await sharedTestSite(t);
    const name = await createEncryptedRoom(site);
    const [code, key] = partsOf(name);
    const phone = await joinRoom(site, name);
    const { page, context } = phone;
    const dialog = await openLock(phone);
    await dialog.getByRole('checkbox', { name: 'Remember the key on this device' }).check();
    await page.keyboard.press('Escape');
    await showsStatus(phone, 'Saved');
    await context.setOffline(true);
    await showsStatus(phone, 'Offline');
    await textOf(phone).fill('written in the tunnel');
    await eventually('the draft is stored', async () => /draft:/.test(await keptBy(phone)));
    const home = { page: await context.newPage(), context };
    await page.close({ runBeforeUnload: false });
    await context.setOffline(false);
    await roomOf(site, name).delete();

    const asked: string[] = [];
    home.page.on('request', (request) => asked.push(request.url()));
    await home.page.goto('/', { waitUntil: 'networkidle' });
    const isKept = async () => {
      const kept = await keptBy(home);
      return /"poproom:draft:/.test(kept) && kept.includes(key) && kept.includes(`seen:${code}`);
    };
    assert.ok(await isKept());
    assert.ok(!asked.some((url) => url.includes(code)), 'the server is not asked');
    await home.page.goto(`/r/${code}`);
    await showsHeading(home.page, `Room ${code} not found`);
    assert.ok(await isKept());
    await home.page.goto('/');
    assert.ok(await isKept());
    await home.page.getByRole('button', { name: `Remove room ${code} from this list` }).click();
    await eventually('nothing of it is kept', async () => !(await keptBy(home)).includes(`:${code}`));
    await home.page.close();
  });

  it('[slow] [SEALED-65] are forgotten seven days after they have expired', async (t) => {
    const site = await sharedTestSite(t);
    const name = await createEncryptedRoom(site);
    const [code] = partsOf(name);
    const { context } = await joinRoom(site, name);
    const day = 24 * 3_600_000;
    for (const [days, isKept] of [
      [7.9, true],
      [8.1, false],
    ] as const) {
      const page = await context.newPage();
      await page.clock.install({ time: Date.now() + days * day });
      await page.goto('/');
      const hasSeen = async () => (await keptBy({ page, context })).includes(`seen:${code}`);
      await eventually(`after ${days} days`, async () => (await hasSeen()) === isKept);
      await page.close();
    }
  });
});

/** A key with a typo that its check symbol detects. */
function mistyped(key: string): string {
  const candidates = [...'0123456789'].map((symbol) => symbol + key.slice(1));
  return candidates.find(isMistyped) ?? assert.fail('one of 32 typos is not detected');
}

function isMistyped(key: string): boolean {
  try {
    parseRoomKey(key);
    return false;
  } catch (error) {
    return error instanceof EncryptionError && error.code === 'KEY_MISTYPED';
  }
}
