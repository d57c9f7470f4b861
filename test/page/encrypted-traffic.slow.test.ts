/** An encrypted room: nothing readable reaches the server, and the page detects a server that lies. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { createClient } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { dropSealedEdits, tamperJson } from '../support/malicious-server.ts';
import { startOwnStores } from '../support/own-stores.ts';
import {
  type BrowserDevice,
  chooseEntry,
  joinRoom,
  showsStatus,
  showsText,
  type TestSite,
  textOf,
} from '../support/page.ts';
import type { TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';
import { readBlob, storedBlobs } from '../support/stored-blobs.ts';
import { roomOf, startEncryptedRoom, startMaliciousSite } from './support/encrypted.ts';
import { pickFiles } from './support/files.ts';
import { readQr } from './support/qr.ts';

const showsHeading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

const secrets = {
  text: 'the code of the gate',
  device: 'Zoë’s laptop',
  room: 'Travel plans',
  file: 'Salaries.txt',
  content: 'Ada earns 4,200 a month.',
};

/** The settings of each engine. */
const engines: Record<string, (t: TestContext) => Promise<Record<string, string>>> = {
  'SQLite and a folder': async () => ({}),
  async 'Redis and S3'(t) {
    const stores = await startOwnStores();
    t.after(stores.stop);
    return stores.settings;
  },
};

describe('the page, encrypted rooms and their server', () => {
  for (const [engine, settings] of Object.entries(engines)) {
    it(`[SEALED-66] send and store neither plaintext nor the key, in a whole session, on ${engine}`, async (t) => {
      const { site, proxy } = await startMaliciousSite(t, await settings(t));
      const laptop = await site.openDevice();
      await renameDevice(laptop.page, secrets.device);
      const key = (await startEncryptedRoom(laptop)).split('#')[1] as string;
      await textOf(laptop).fill(`${secrets.text} is 4471`);
      await showsStatus(laptop, 'Saved');
      await renameRoom(laptop.page, secrets.room);
      await restoreEarlierText(laptop);
      await pickFiles(laptop.page, [{ name: secrets.file, content: secrets.content.repeat(10_000) }]);
      await laptop.page.getByRole('button', { name: `Download ${secrets.file}`, exact: true }).waitFor();
      await inviteScreen(site, laptop);

      const values = [...Object.values(secrets), key, key.replace(/.{4}(?=.)/g, '$&-'), key.toLowerCase()];
      const sent = proxy.sent.join('\n');
      assertAbsent(values, sent, 'the traffic');
      const auth = /"x-room-auth":"([\w-]{43})"/.exec(sent)?.[1] ?? assert.fail('no request has the key');
      const { text: metrics } = await site.server.api.get('/metrics');
      assertAbsent([...values, auth], metrics, 'the metrics');
      assertAbsent([...values, auth], site.server.logged(), 'the log');
      for (const [source, bytes] of await storedBytes(site.server))
        assertAbsent([...values, auth], bytes.toString('latin1'), source);
    });
  }

  it('[SEALED-64] warn about an older and a different text, which can be opened on request', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    let older: unknown;
    const laptop = await site.openDevice();
    const code = (await startEncryptedRoom(laptop)).split('#')[0] as string;
    proxy.tamperMessage = (message) => {
      if (message.type === 'snapshot') older ??= message.content;
      return message;
    };
    await textOf(laptop).fill('older');
    await showsStatus(laptop, 'Saved');
    await laptop.page.reload();
    await showsText(laptop, 'older');
    await textOf(laptop).fill('newer');
    await showsStatus(laptop, 'Saved');

    proxy.tamperMessage = (message) => (message.type === 'snapshot' ? { ...message, content: older } : message);
    await laptop.page.reload();
    await showsHeading(laptop.page, 'The server sent an older text');
    await laptop.page.getByRole('button', { name: 'Open it anyway' }).click();
    await showsText(laptop, 'older');

    proxy.tamperMessage = (message) => message;
    await laptop.page.evaluate((code) => {
      localStorage.setItem(`poproom:seen:${code}`, JSON.stringify({ version: 2, hash: 'A'.repeat(22) }));
    }, code);
    await laptop.page.reload();
    await showsHeading(laptop.page, 'The server sent a different text');
  });

  it('[SEALED-64] warn about damaged data and a room that is not encrypted, and keep the text', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const laptop = await site.openDevice();
    const name = await startEncryptedRoom(laptop);
    await textOf(laptop).fill('typed before');
    await showsStatus(laptop, 'Saved');
    const phone = await joinRoom(site, name);
    await showsText(phone, 'typed before');
    const content = `pop1.${'A'.repeat(395)}`;
    proxy.inject({
      type: 'content',
      seq: 99,
      content,
      version: 99,
      contentVersion: 99,
      sealedEdits: [],
      timestamp: now(),
    });
    for (const { page } of [laptop, phone]) {
      await showsHeading(page, 'The data of this room is damaged');
      await page.getByText('Your text is still here until you leave this page.').waitFor();
    }
    const { page } = laptop;
    await page.getByRole('button', { name: 'Try again' }).click();
    await showsText(laptop, 'typed before');

    const plain = await site.server.api.room();
    await page.goto(`/r/${plain}#${name.split('#')[1]}`);
    await showsHeading(page, 'This room isn’t encrypted');
  });

  it('[SEALED-69] offer own words that are missing after a gap, to copy them', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const laptop = await site.openDevice({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = laptop;
    const room = roomOf(site, await startEncryptedRoom(laptop));
    await room.write('one');
    await showsText(laptop, 'one');
    dropSealedEdits(proxy);
    await textOf(laptop).fill('one, and my words');
    await showsStatus(laptop, 'Saved');
    for (let n = 0; n < 66; n++) await room.append('.');
    await room.write('of others');
    let stored = {};
    proxy.tamper = tamperJson('/content', (content) => {
      stored = content;
      return content;
    });
    await createClient({ url: proxy.url }).room(room.code, { key: room.key }).read();
    proxy.inject({ type: 'content', seq: 99, ...stored });
    await showsText(laptop, 'of others');
    const alert = page.getByRole('status').filter({ hasText: 'Words that you wrote are missing from the text.' });
    await alert.getByRole('button', { name: 'Copy text' }).click();
    await eventually('the words are copied', async () =>
      (await page.evaluate(() => navigator.clipboard.readText())).includes('and my words'),
    );
    await alert.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Words that you wrote').waitFor({ state: 'detached' });
  });

  it('[SEALED-47] show no other version of the history than the chosen one', async (t) => {
    const { site, proxy } = await startMaliciousSite(t);
    const laptop = await site.openDevice();
    const { page } = laptop;
    const room = roomOf(site, await startEncryptedRoom(laptop));
    await room.write('the first version');
    await room.append(', continued');
    await room.write('now');
    await showsText(laptop, 'now');
    let first = {};
    proxy.tamper = tamperJson('/history/1', (version) => {
      first = version;
      return version;
    });
    const misled = createClient({ url: proxy.url }).room(room.code, { key: room.key });
    assert.equal((await misled.historyText(1)).content, 'the first version');

    proxy.tamper = tamperJson('/history/2', () => first);
    await chooseEntry(page, 'Version history');
    const dialog = page.getByRole('dialog', { name: 'Version history' });
    const preview = dialog.getByRole('region', { name: 'Preview' });
    await preview.getByRole('alert').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Restore' }).isDisabled());
    await dialog.getByRole('slider').press('Home');
    await preview.getByText('the first version').waitFor();
  });
});

const now = () => new Date().toISOString();

/** Everything that the server has stored, by its place. */
async function storedBytes(server: TestServer): Promise<[source: string, bytes: Buffer][]> {
  const entries = await readdir(server.folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const blobs = await storedBlobs(server);
  const records = await (await inspectStore(server)).bytes();
  assert.ok(records.includes('pop1.'), 'the text is found in its sealed form');
  assert.equal(blobs.length, 1);
  const contents = await Promise.all([
    ...paths.map(async (path) => [path, await readFile(path)] as [string, Buffer]),
    ...blobs.map(async (path) => [path, await readBlob(server, path)] as [string, Buffer]),
  ]);
  return [['the store', records], ...contents];
}

function assertAbsent(values: readonly string[], output: string, source: string): void {
  for (const value of values) {
    // Requests are recorded byte by byte.
    for (const form of [value, Buffer.from(value).toString('latin1'), JSON.stringify(value).slice(1, -1)])
      assert.ok(!output.includes(form), `${source} contains ${value}`);
  }
}

async function renameDevice(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('textbox', { name: 'Device name' }).fill(name);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
}

async function renameRoom(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Room settings' }).click();
  const dialog = page.getByRole('dialog', { name: 'Room settings' });
  await dialog.getByRole('textbox', { name: 'Room name' }).fill(name);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Clears the text, which saves a version of it, and restores that. */
async function restoreEarlierText(device: BrowserDevice): Promise<void> {
  const { page } = device;
  await chooseEntry(page, 'Clear');
  await showsText(device, '');
  await showsStatus(device, 'Saved');
  const history = page.getByRole('dialog', { name: 'Version history' });
  await eventually('the history has a version', async () => {
    await chooseEntry(page, 'Version history');
    await history
      .getByText(/No earlier versions yet|bytes/)
      .first()
      .waitFor();
    const hasVersion = (await history.getByRole('slider').count()) > 0;
    if (!hasVersion) await page.keyboard.press('Escape');
    return hasVersion;
  });
  await history.getByText(secrets.text).first().waitFor();
  await history.getByRole('button', { name: 'Restore' }).click();
  await showsText(device, `${secrets.text} is 4471`);
  await showsStatus(device, 'Saved');
}

/** The screen shows a QR code, and the laptop hands the key over through the server. */
async function inviteScreen(site: TestSite, { context }: BrowserDevice): Promise<void> {
  const screen = await site.openDevice({ at: '/invite', viewport: { width: 640, height: 360 } });
  const link = await readQr(screen.page, 'QR code to invite this screen');
  const answering = await context.newPage();
  await answering.goto(new URL(link).pathname + new URL(link).hash);
  await answering.getByRole('listitem').getByText(secrets.room).click();
  await showsText(screen, `${secrets.text} is 4471`);
  await answering.close();
}
