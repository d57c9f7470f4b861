/** The values that the page keeps of encrypted rooms, whatever the server says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { jsonResponse, type MaliciousServer } from '../support/malicious-server.ts';
import {
  type BrowserDevice,
  joinRoom,
  sharedTestSite,
  showsStatus,
  showsText,
  startRoom,
  textOf,
} from '../support/page.ts';
import { createEncryptedRoom, startEncryptedRoom, startMaliciousSite } from './support/encrypted.ts';
import { readQr } from './support/qr.ts';

const showsHeading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const keyField = (page: Page) => page.getByRole('textbox', { name: 'Room key or link' });
const partsOf = (room: string) => room.split('#') as [code: string, key: string];

/** The names and values of what the browser keeps about a room when its tabs are closed. */
const keptOf = ({ page }: Pick<BrowserDevice, 'page'>, code: string) =>
  page.evaluate((code) => Object.entries(localStorage).filter(([name]) => name.endsWith(`:${code}`)), code);

const kindsOf = (kept: readonly (readonly [string, string])[]) =>
  kept.map(([name]) => name.split(':')[1] as string).sort();

const error = (status: number, code: string, details = {}) =>
  jsonResponse(status, { error: { code, message: 'As the server says.', details } });

/** The server answers every request about the room like this, and closes its live channels. */
function refuse(proxy: MaliciousServer, code: string, status: number, errorCode: string, details = {}): void {
  proxy.answer = ({ path }) => (path.startsWith(`/api/rooms/${code}`) ? error(status, errorCode, details) : undefined);
  const close = () => {
    proxy.inject({ type: 'error', error: { code: errorCode, message: 'As the server says.', details } });
    proxy.closeChannels(4000 + status);
  };
  proxy.tamperSentMessage = () => void close();
  close();
}

/** The server is honest again. */
function obey(proxy: MaliciousServer): void {
  proxy.answer = () => undefined;
  proxy.tamperSentMessage = (message) => message;
}

const refusals = [
  [404, 'ROOM_NOT_FOUND', 'deleted'],
  [410, 'ROOM_EXPIRED', 'expired'],
] as const;

describe('the page, what it keeps of encrypted rooms', () => {
  for (const [status, code, reason] of refusals) {
    it(`[SEALED-67] stays when the server answers ${status}, with the text that was not sent`, async (t) => {
      const { site, proxy } = await startMaliciousSite(t);
      const laptop = await site.openDevice();
      const [room, key] = partsOf(await startEncryptedRoom(laptop));
      await textOf(laptop).fill('sent');
      await showsStatus(laptop, 'Saved');
      proxy.tamperSentMessage = () => undefined;
      await textOf(laptop).fill('sent, and not sent');
      await eventually('the draft is stored', async () => kindsOf(await keptOf(laptop, room)).includes('draft'));
      const kept = kindsOf(await keptOf(laptop, room));
      proxy.inject({ type: 'closed', reason });
      refuse(proxy, room, status, code);
      await laptop.page.getByRole('button', { name: 'Copy text' }).waitFor();

      await laptop.page.goto('/');
      await laptop.page.goto(`/r/${room}`);
      await laptop.page.getByText('Changes that were not sent are still on this device.').waitFor();
      await laptop.page.getByRole('button', { name: 'Copy text' }).waitFor();
      await laptop.page.goto('/');
      assert.deepEqual(kindsOf(await keptOf(laptop, room)), kept);
      assert.ok(JSON.stringify(await keptOf(laptop, room)).includes(key));

      obey(proxy);
      await laptop.page.goto(`/r/${room}`);
      await showsText(laptop, 'sent, and not sent');
    });
  }

  it('[SEALED-67] stays when the server says that the key is wrong, also of a key that only the tab has', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const name = await createEncryptedRoom(site);
    const [room] = partsOf(name);
    const phone = await joinRoom(site, name);
    refuse(proxy, room, 403, 'KEY_INCORRECT', { triesLeft: 4 });
    await phone.page.reload();
    await keyField(phone.page).waitFor();
    obey(proxy);
    await phone.page.reload();
    await textOf(phone).waitFor();
  });

  it('[SEALED-67] stays when the key in a link is for a room that the server does not find', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const name = await createEncryptedRoom(site);
    const [room] = partsOf(name);
    refuse(proxy, room, 404, 'ROOM_NOT_FOUND');
    const phone = await site.openDevice({ at: `/r/${name}` });
    await showsHeading(phone.page, `Room ${room} not found`);
    obey(proxy);
    await phone.page.reload();
    await textOf(phone).waitFor();
  });

  it('[SEALED-67] stays when the server says that the room has expired long ago', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const laptop = await site.openDevice();
    const [room] = partsOf(await startEncryptedRoom(laptop));
    await textOf(laptop).fill('sent');
    await showsStatus(laptop, 'Saved');
    const kept = kindsOf(await keptOf(laptop, room));
    proxy.inject({ type: 'room', seq: 99, expiresAt: '2001-01-01T00:00:00.000Z', hasPin: false, pinAttempts: 0 });
    await eventually('the page has it', () =>
      laptop.page.evaluate(() => localStorage.getItem('poproom:rooms')?.includes('9783072')),
    );
    for (let visit = 0; visit < 2; visit++) await laptop.page.goto('/');
    assert.deepEqual(kindsOf(await keptOf(laptop, room)), kept);
  });

  it('[SEALED-67] includes the salt: another one is reported, and nothing is sent', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const laptop = await site.openDevice();
    const [room] = partsOf(await startEncryptedRoom(laptop));
    await showsStatus(laptop, 'Saved');
    const salt = 'AAECAwQFBgcICQoLDA0ODw';
    refuse(proxy, room, 401, 'KEY_REQUIRED', { scheme: 'pop1', salt });
    proxy.sent.length = 0;
    await laptop.page.reload();
    await showsHeading(laptop.page, 'The data of this room is damaged');
    assert.ok(!proxy.sent.join('\n').includes('"auth"'));
  });

  it('[SEALED-67] stays when more rooms are joined than the list shows', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const [room] = partsOf(await startEncryptedRoom(laptop));
    await textOf(laptop).fill('sent');
    await showsStatus(laptop, 'Saved');
    const kept = kindsOf(await keptOf(laptop, room));
    await laptop.page.goto('/');
    await laptop.page.evaluate(() => {
      const [first] = JSON.parse(localStorage.getItem('poproom:rooms') ?? '[]');
      const plain = { ...first, isEncrypted: undefined };
      const others = Array.from({ length: 12 }, (_, i) => ({ ...plain, code: `7KQ2M${i % 10}${i}` }));
      localStorage.setItem('poproom:rooms', JSON.stringify([...others, first]));
    });
    await laptop.page.goto('/');
    await startRoom(laptop);
    await laptop.page.goto('/');
    assert.deepEqual(kindsOf(await keptOf(laptop, room)), kept);
    await laptop.page.getByRole('button', { name: room }).first().click();
    await showsText(laptop, 'sent');
  });

  it('[SEALED-67] is bounded: of 200 rooms and more, those whose time ended first are forgotten', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const [room] = partsOf(await startEncryptedRoom(laptop));
    await laptop.page.evaluate((code) => {
      const known = JSON.parse(localStorage.getItem(`poproom:encrypted:${code}`) ?? '');
      for (let i = 0; i < 205; i++) {
        const other = { ...known, keepUntil: known.keepUntil - (i < 100 ? 1_000 + i : -i) };
        localStorage.setItem(`poproom:encrypted:E${1000000 + i}`, JSON.stringify(other));
        localStorage.setItem(`poproom:kept-key:E${1000000 + i}`, '"H4T9WZ3BNQ6YRC88"');
      }
    }, room);
    await laptop.page.goto('/');
    const names = await laptop.page.evaluate(() => Object.keys(localStorage));
    for (const kind of ['encrypted', 'kept-key'])
      assert.equal(names.filter((name) => name.startsWith(`poproom:${kind}:`)).length, 200, kind);
    const forgotten = [94, 95, 96, 97, 98, 99].map((i) => `poproom:encrypted:E${1000000 + i}`);
    assert.deepEqual(
      forgotten.filter((name) => names.includes(name)),
      [],
    );
  });
});

describe('the page, rooms that it knows as encrypted', () => {
  it('[SEALED-68] are not opened as plain ones by a device without the key, and nothing is sent', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const laptop = await site.openDevice();
    await laptop.page.getByRole('checkbox', { name: 'Encrypt this room' }).check();
    await laptop.page.getByRole('checkbox', { name: 'Remember the key on this device' }).uncheck();
    const room = await startRoom(laptop);
    await showsStatus(laptop, 'Saved');
    await laptop.page.goto('/');
    const plain = await site.server.api.room();
    // The server presents another room under this code.
    proxy.answer = (request) => {
      request.path = request.path.replace(room, plain);
      return undefined;
    };
    const other = { page: await laptop.context.newPage(), context: laptop.context };
    proxy.sent.length = 0;
    await other.page.goto(`/r/${room}`);
    await showsHeading(other.page, 'This room isn’t encrypted');
    await other.page.getByText('Nothing was sent', { exact: false }).waitFor();
    assert.ok(!proxy.sent.join('\n').includes('"join"'), 'no live channel is opened');
    assert.equal(await textOf(other).count(), 0);
    await other.page.close();
  });

  it('[SEALED-68] are known by their code: a guest is asked for the key before anything is sent', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const room = partsOf(await createEncryptedRoom(site))[0];
    const guest = await site.openDevice();
    proxy.sent.length = 0;
    await guest.page.getByRole('textbox', { name: 'Code or link' }).fill(room);
    await guest.page.keyboard.press('Enter');
    await showsHeading(guest.page, `Enter the key for room ${room}`);
    const about = proxy.sent.filter((request) => request.includes(room));
    assert.ok(
      about.every((request) => request.startsWith(`GET /api/rooms/${room} `) || request.startsWith('GET /r/')),
      about.join('\n'),
    );
    assert.ok(!proxy.sent.join('\n').includes('Chrome on'), 'the name of the device is not sent');

    const plain = await site.server.api.room();
    proxy.answer = (request) => {
      request.path = request.path.replace(room, plain);
      return undefined;
    };
    await guest.page.reload();
    await showsHeading(guest.page, 'This room isn’t encrypted');
  });
});

describe('the page, a room that is not encrypted', () => {
  it('[SEALED-68] has no lock, whatever the server says', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    proxy.tamperMessage = (message) =>
      message.type === 'snapshot' ? { ...message, room: { ...(message.room as object), encrypted: true } } : message;
    const guest = await joinRoom(site, await site.server.api.room());
    await showsStatus(guest, 'Saved');
    await guest.page.getByText('enter the room code', { exact: false }).waitFor();
    assert.equal(await guest.page.getByRole('button', { name: 'This room is encrypted' }).count(), 0);
  });
});

describe('the page, the key of an encrypted room', () => {
  it('[SEALED-74] is kept where the room was started, so that the tab can be closed', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const [room] = partsOf(await startEncryptedRoom(laptop));
    await textOf(laptop).fill('for later');
    await showsStatus(laptop, 'Saved');
    const other = { page: await laptop.context.newPage(), context: laptop.context };
    await laptop.page.close();
    await other.page.goto('/');
    await other.page.getByRole('button', { name: room }).first().click();
    await showsText(other, 'for later');
    await other.page.close();
  });

  it('[SEALED-74] is not kept if the user does not want it, which the question for the key then says', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    const { page, context } = laptop;
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

  it('[SEALED-74] is not lost without a question when the last device leaves', async (t) => {
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

    const second = await joinRoom(site, name);
    await page.getByText('joined', { exact: false }).first().waitFor();
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

  it('[SEALED-70] belongs to a device that has another id in each encrypted room', async (t) => {
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

  it('[SEALED-71] is part of the invitation, with the code, the QR code and the link', async (t) => {
    const site = await sharedTestSite(t);
    for (const width of [390, 1280]) {
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
    }
  });

  for (const locale of ['en-GB', 'ar']) {
    it(`[SEALED-72] is grouped while it is typed, with the caret in its place, in "${locale}"`, async (t) => {
      const site = await sharedTestSite(t);
      const [room] = partsOf(await createEncryptedRoom(site));
      const { page } = await site.openDevice({ at: `/r/${room}`, locale });
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
    });
  }
});

describe('the page, the time until an encrypted room is shown', () => {
  it('[SEALED-73] includes no wait for the salt: the page asks for it while the code is loaded', async (t) => {
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

  it('[SEALED-73] includes only the live channel after the key is entered', async (t) => {
    const site = await sharedTestSite(t);
    const [room, key] = partsOf(await createEncryptedRoom(site));
    const guest = await site.openDevice({ at: `/r/${room}` });
    await keyField(guest.page).waitFor();
    const asked: string[] = [];
    guest.page.on('request', (request) => asked.push(request.url()));
    const channel = guest.page.waitForEvent('websocket');
    await keyField(guest.page).fill(key);
    await guest.page.keyboard.press('Enter');
    await channel;
    assert.deepEqual(
      asked.filter((url) => !url.includes('key-worker')),
      [],
    );
    await textOf(guest).waitFor();
  });
});
