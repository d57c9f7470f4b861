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
    await laptop.page.getByText('Options').click();
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
