/** The page as an app: installed, offline, and a place to share to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, codeOf, showsText, startRoom, startTestSite, textOf } from '../support/page.ts';
import type { TestServer } from '../support/server.ts';
import { arrived } from './support/files.ts';
import { shareFromOtherApp, submitShare, waitForServiceWorker } from './support/service-worker.ts';
import { translatorFor } from './support/views.ts';

describe('the page, as an installed app', () => {
  it('[PAGE-17] can be installed: its manifest is valid, and its icons have the declared sizes', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const { page, context } = await site.openDevice();
    const session = await context.newCDPSession(page);
    const { url, errors, data = '' } = await session.send('Page.getAppManifest');
    assert.deepEqual([url, errors], [`${site.server.url}/assets/manifest.webmanifest`, []]);
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
    const faults = installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito');
    assert.deepEqual(faults, []);
  });

  it('[PAGE-17] opens offline with the recent rooms and an offline notice, in the chosen theme and language', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const device = await site.openDevice();
    const { page, context } = device;
    const code = await startRoom(device);
    await waitForServiceWorker(page);
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
  });

  it('[PAGE-17] opens offline in a chosen language, also after an update', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const { page, context } = await site.openDevice();
    await waitForServiceWorker(page);
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
  });

  it('[PAGE-17] has all parts offline, including those that were never shown', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const { page, context } = await site.openDevice();
    await waitForServiceWorker(page);
    await context.setOffline(true);
    await page.reload();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('dialog', { name: 'Settings', exact: true }).waitFor();
    await page.goto('/share');
    await page.getByRole('heading', { name: 'Nothing to share' }).waitFor();
    await page.goto('/invite');
    await page.getByRole('status').filter({ hasText: 'Can’t reach the server.' }).waitFor();
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Show a new code' }).click();
    await page.getByRole('img', { name: 'QR code to invite this screen' }).waitFor();
  });

  it('[PAGE-17] caches one version of itself, but no shared content or API responses', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const device = await site.openDevice();
    const { page } = device;
    await startRoom(device);
    await waitForServiceWorker(page);
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
  });
});

describe('the page, content shared from another app', () => {
  it('[PAGE-18] is appended to the text of a recent room, and its files are uploaded', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const device = await site.openDevice();
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
    await hasText(site.server, code, 'there before\nA page\nLook: https://example.org/a');
    await assertNothingIsLeft(device);
  });

  it('[PAGE-18] can be put into a new room', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const device = await site.openDevice();
    const { page } = device;
    await shareFromOtherApp(page, { text: 'a text alone' });
    await page.getByText('a text alone').waitFor();
    await startRoom(device);
    await hasText(site.server, codeOf(page), 'a text alone');
    await assertNothingIsLeft(device);
  });

  it('[PAGE-18] can be put into a room by code and PIN, and only once', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const code = await site.server.api.room({ pin: '1234' });
    const device = await site.openDevice();
    const { page } = device;
    await shareFromOtherApp(page, { url: 'https://example.org/b', files: [{ name: 'c.txt', content: 'c' }] });
    await page.getByRole('textbox', { name: 'Code or link' }).fill(code);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: '4-digit PIN' }).pressSequentially('1234');
    await arrived(page, 'c.txt');
    await hasText(site.server, code, 'https://example.org/b', '1234');
    await page.reload();
    await arrived(page, 'c.txt');
    assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 1);
    await showsText(device, 'https://example.org/b');
  });

  it('[PAGE-18] is kept across a reload, and can be discarded', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const device = await site.openDevice();
    const { page } = device;
    await shareFromOtherApp(page, { text: '<b>not yet placed</b>' });
    await page.getByText('<b>not yet placed</b>').waitFor();
    await page.reload();
    await page.getByText('<b>not yet placed</b>').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    // After the removal.
    await page.waitForURL(({ pathname }) => pathname === '/');
    await assertNothingIsLeft(device);
  });

  for (const policy of ['no-referrer', 'unsafe-url']) {
    it(`[LINK-7] is not replaced by a form of another site with ${policy}`, async (t) => {
      const site = await startTestSite(t, {}, { hasServiceWorker: true, host: 'localhost' });
      const { page, context } = await site.openDevice();
      await shareFromOtherApp(page, { text: 'mine' });
      await page.getByText('mine').waitFor();

      const other = await context.newPage();
      await other.goto(`http://127.0.0.1:${site.server.port}/docs`);
      await other.evaluate((content) => {
        document.head.append(Object.assign(document.createElement('meta'), { name: 'referrer', content }));
      }, policy);
      await submitShare(other, `http://localhost:${site.server.port}/share`, { text: 'not mine' });
      if (policy === 'no-referrer') await other.getByText('not mine').waitFor();
      else await other.getByText('You shared something from another app.').waitFor();

      await startRoom({ page, context });
      await hasText(site.server, codeOf(page), 'mine');
    });
  }

  it('[LINK-7] is kept while a later one is discarded', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const { page } = await site.openDevice();
    await shareFromOtherApp(page, { text: 'the first' });
    await page.getByText('the first').waitFor();
    await shareFromOtherApp(page, { text: 'the second' });
    await page.getByText('the second').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Choose room' }).click();
    await page.getByText('the first').waitFor();
  });

  it('[PAGE-18] without any content shows an explanation', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const { page } = await site.openDevice();
    await shareFromOtherApp(page, { title: ' ', text: '' });
    await page.getByRole('heading', { name: 'Nothing to share' }).waitFor();
    await page.getByText('Share text, a link or a file from another app').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Back to home' }).click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
  });
});

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
