/** The page as an app: installed, offline, and a place to share to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  codeOf,
  showsText,
  startRoom,
  startTestSite,
  type TestSite,
  textOf,
} from '../support/page.ts';
import type { TestServer } from '../support/server.ts';
import { arrived } from './support/files.ts';
import { shareFromOtherApp, submitShare, waitForServiceWorker } from './support/service-worker.ts';
import { translatorFor } from './support/views.ts';

describe('the page, as an installed app', () => {
  // The service worker takes a second per device, so these tests share one.
  it('[PAGE-17] can be installed, and works offline', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const device = await site.openDevice();
    await t.test('its manifest is valid, and its icons have the declared sizes', () => checkManifest(site, device));
    const code = await startRoom(device);
    await waitForServiceWorker(device.page);
    await t.test('it caches one version of itself, but no shared content or API responses', () => checkCache(device));
    await t.test('it opens offline with the recent rooms and an offline notice', () => openOffline(device, code));
    await t.test('it has all parts offline, including those that were never shown', () => showAllParts(device));
    await t.test('it opens offline in a chosen language, also after an update', () => openInLanguages(device));
  });
});

async function checkManifest({ server }: TestSite, { page, context }: BrowserDevice): Promise<void> {
  const session = await context.newCDPSession(page);
  const { url, errors, data = '' } = await session.send('Page.getAppManifest');
  assert.deepEqual([url, errors], [`${server.url}/assets/manifest.webmanifest`, []]);
  const { icons, share_target: target, start_url: start, scope } = JSON.parse(data);
  const paths = [start, scope, target.action].map((path) => new URL(path, url).pathname);
  assert.deepEqual([...paths, target.method], ['/', '/', '/share', 'POST']);

  const raster = icons.filter(({ type }: { type: string }) => type === 'image/png');
  assert.ok(raster.some(({ purpose }: { purpose?: string }) => purpose === 'maskable'));
  for (const { src, sizes } of raster) {
    const picture = Buffer.from(await (await fetch(new URL(src, url))).arrayBuffer());
    assert.equal(`${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`, sizes, src);
  }
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  await session.detach();
  const faults = installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito');
  assert.deepEqual(faults, []);
}

async function checkCache({ page }: BrowserDevice): Promise<void> {
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const paths = [];
    for (const name of names) {
      for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
    }
    return { names, paths };
  });
  assert.equal(kept.names.length, 1);
  assert.deepEqual(
    kept.paths.filter((path) => path !== '/' && !path.startsWith('/assets/')),
    [],
  );
}

async function openOffline(device: BrowserDevice, code: string): Promise<void> {
  const { page, context } = device;
  await context.setOffline(true);
  await page.goto('/');
  await page.getByText('You’re offline.').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'One room, all your devices.' }).waitFor();

  await page.getByRole('button', { name: new RegExp(`^${code}`) }).click();
  await page.getByRole('heading', { name: 'Can’t reach the server' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Can’t reach the server' }).waitFor();
  await page
    .getByText(/^Retrying in \d+ seconds?…$/)
    .first()
    .waitFor();
  await context.setOffline(false);
  await textOf(device).waitFor();
}

async function showAllParts({ page, context }: BrowserDevice): Promise<void> {
  await context.setOffline(true);
  await page.goto('/');
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('dialog', { name: 'Settings', exact: true }).waitFor();
  await page.goto('/share');
  await page.getByRole('heading', { name: 'Nothing to share' }).waitFor();
  await page.goto('/invite');
  await page.getByRole('status').filter({ hasText: 'Can’t reach the server.' }).waitFor();
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Show a new code' }).click();
  await page.getByRole('img', { name: 'QR code to invite this screen' }).waitFor();
}

async function openInLanguages({ page, context }: BrowserDevice): Promise<void> {
  await page.goto('/');
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('combobox').selectOption('ar');
  await page.getByRole('dialog', { name: translatorFor('ar')('settings') }).waitFor();
  await context.setOffline(true);
  await page.reload();
  await page.getByText(translatorFor('ar')('youAreOffline')).waitFor();
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');

  // Another version of the service worker has cached the files of its own languages.
  await context.setOffline(false);
  await page.evaluate(async () => {
    await (await navigator.serviceWorker.ready).unregister();
    for (const name of await caches.keys()) await caches.delete(name);
    await (await caches.open('poproom-shell-former')).put('/assets/ja.0123456789ab.js', new Response(''));
  });
  await page.evaluate(() => localStorage.setItem('poproom:language', '"en"'));
  await page.reload();
  await waitForServiceWorker(page);
  await page.evaluate(() => localStorage.setItem('poproom:language', '"ja"'));
  await context.setOffline(true);
  await page.reload();
  await page.getByText(translatorFor('ja')('youAreOffline')).waitFor();
}

describe('the page, content shared from another app', () => {
  it('[PAGE-18] [LINK-7] is put into a room, or discarded', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const device = await site.openDevice();
    await t.test('into a recent room, with its files', () => shareToRecentRoom(site, device));
    await t.test('into a new room', () => shareToNewRoom(site, device));
    await t.test('into a room by code and PIN, and only once', () => shareByCode(site, device));
    await t.test('it is kept across a reload, and can be discarded', () => discardAfterReload(device));
    await t.test('without any content, an explanation is shown', () => shareNothing(device));
    await t.test('it is kept while a later one is discarded', () => discardLater(device));
  });

  it('[slow] [LINK-7] is not replaced by a form of another site, with any referrer policy', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true, host: 'localhost' });
    const device = await site.openDevice();
    // Before the page is loaded again: that could interrupt the installation.
    await waitForServiceWorker(device.page);
    // The first one is rejected, so nothing of it is left.
    for (const policy of ['unsafe-url', 'no-referrer'] as const)
      await t.test(policy, () => shareFromOtherSite(site, device, policy));
  });
});

/** Appended to its text. */
async function shareToRecentRoom({ server }: TestSite, device: BrowserDevice): Promise<void> {
  const { page } = device;
  const code = await startRoom(device);
  await textOf(device).fill('there before');
  await page.getByText('Saved').waitFor();
  await page.goto('/');
  await shareFromOtherApp(page, {
    title: 'A page',
    text: 'Look: https://example.org/a',
    url: 'https://example.org/a',
    files: [
      { name: 'a.txt', type: 'text/plain', content: 'a' },
      { name: 'b.txt', type: 'text/plain', content: 'b' },
    ],
  });
  await page.getByRole('heading', { name: 'Share to a room' }).waitFor();
  await page.getByText('A page\nLook: https://example.org/a').waitFor();
  await page.getByText('a.txt · 1 byte').waitFor();

  await page.getByRole('button', { name: new RegExp(`^${code}`) }).click();
  await arrived(page, 'a.txt');
  await arrived(page, 'b.txt');
  await hasText(server, code, 'there before\nA page\nLook: https://example.org/a');
  await assertNothingIsLeft(device);
}

async function shareToNewRoom({ server }: TestSite, device: BrowserDevice): Promise<void> {
  const { page } = device;
  await shareFromOtherApp(page, { text: 'a text alone' });
  await page.getByText('a text alone').waitFor();
  await startRoom(device);
  await hasText(server, codeOf(page), 'a text alone');
  await assertNothingIsLeft(device);
}

async function shareByCode({ server }: TestSite, device: BrowserDevice): Promise<void> {
  const { page } = device;
  const code = await server.api.room({ pin: '1234' });
  await shareFromOtherApp(page, { url: 'https://example.org/b', files: [{ name: 'c.txt', content: 'c' }] });
  await page.getByRole('textbox', { name: 'Code or link' }).fill(code);
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: '4-digit PIN' }).pressSequentially('1234');
  await arrived(page, 'c.txt');
  await hasText(server, code, 'https://example.org/b', '1234');
  await page.reload();
  await arrived(page, 'c.txt');
  assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 1);
  await showsText(device, 'https://example.org/b');
}

async function discardAfterReload(device: BrowserDevice): Promise<void> {
  const { page } = device;
  await shareFromOtherApp(page, { text: '<b>not yet placed</b>' });
  await page.getByText('<b>not yet placed</b>').waitFor();
  await page.reload();
  await page.getByText('<b>not yet placed</b>').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  // After the removal.
  await page.waitForURL(({ pathname }) => pathname === '/');
  await assertNothingIsLeft(device);
}

async function shareNothing({ page }: BrowserDevice): Promise<void> {
  await shareFromOtherApp(page, { title: ' ', text: '' });
  await page.getByRole('heading', { name: 'Nothing to share' }).waitFor();
  await page.getByText('Share text, a link or a file from another app').waitFor();
  await page.getByRole('main').getByRole('button', { name: 'Back to home' }).click();
  await page.getByRole('button', { name: 'Start a room' }).waitFor();
}

async function discardLater({ page }: BrowserDevice): Promise<void> {
  await shareFromOtherApp(page, { text: 'the first' });
  await page.getByText('the first').waitFor();
  await shareFromOtherApp(page, { text: 'the second' });
  await page.getByText('the second').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('button', { name: 'Choose room' }).click();
  await page.getByText('the first').waitFor();
}

async function shareFromOtherSite({ server }: TestSite, device: BrowserDevice, policy: string): Promise<void> {
  const { page, context } = device;
  await page.goto('/');
  await shareFromOtherApp(page, { text: `mine, ${policy}` });
  await page.getByText(`mine, ${policy}`).waitFor();

  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${server.port}/docs`);
  await other.evaluate((content) => {
    document.head.append(Object.assign(document.createElement('meta'), { name: 'referrer', content }));
  }, policy);
  await submitShare(other, `http://localhost:${server.port}/share`, { text: 'not mine' });
  if (policy === 'no-referrer') await other.getByText('not mine').waitFor();
  else await other.getByText('You shared something from another app.').waitFor();

  await startRoom(device);
  await hasText(server, codeOf(page), `mine, ${policy}`);
}

async function hasText(server: TestServer, code: string, expected: string, pin?: string): Promise<void> {
  let found = '';
  await eventually('the text is stored', async () => {
    found = (await server.api.get(`/api/rooms/${code}/content`, pin ? { pin } : {})).json.content;
    return found === expected;
  }).catch(() => assert.equal(found, expected));
}

async function assertNothingIsLeft({ page }: BrowserDevice): Promise<void> {
  await page.goto('/share');
  await page.getByRole('heading', { name: 'Nothing to share' }).waitFor();
}
