/** The page under a path of a host that has other content, behind a real proxy. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { showsText, startRoom, startTestSite, textOf } from '../support/page.ts';
import { startBehindProxy } from '../support/proxy.ts';
import { arrived, pickFiles, rowOf } from './support/files.ts';
import { readQr } from './support/qr.ts';
import { submitShare, waitForServiceWorker } from './support/service-worker.ts';
import { translatorFor } from './support/views.ts';

describe('the page under a path', () => {
  it('[SUB-3] [SUB-8] does everything below the path', async (t) => {
    const { site, base } = await startProxiedSite(t);
    const device = await site.openDevice({ at: base });
    const { page } = device;
    const requested = requestsOf(page);
    assert.equal(page.url(), `${base}/`, 'the path without a slash leads to the page');
    const code = await startRoom(device);
    assert.equal(page.url(), `${base}/r/${code}`);
    assert.equal(await readQr(page, 'QR code for this room'), page.url());
    await page.getByText(`or open ${base.slice('http://'.length)} on the other device`).waitFor();
    await textOf(device).fill('below the path');

    const content = Buffer.alloc(6 * 1024 ** 2, 'poproom ');
    await pickFiles(page, [{ name: 'large.bin', content }]);
    await arrived(page, 'large.bin');
    assert.ok(requested.some((path) => path.startsWith(`/poproom/api/rooms/${code}/uploads/`)));
    await page.reload();
    await showsText(device, 'below the path');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      rowOf(page, 'large.bin').getByRole('link', { name: 'Download' }).click(),
    ]);
    assert.ok(content.equals(await readFile(await download.path())));

    await chooseGerman(page);
    assert.ok(requested.some((path) => /^\/poproom\/assets\/de\.[0-9a-f]{12}\.js$/.test(path)));
    await assertErrorPage(page, base);
    await page.getByRole('button', { name: translatorFor('de')('showInviteQr') }).click();
    await page.waitForURL(`${base}/invite`);
    const elsewhere = requested.filter((path) => !path.startsWith('/poproom/'));
    assert.deepEqual(elsewhere, []);

    // Without the proxy, the page also works at the root.
    await page.goto('about:blank');
    await page.goto(`${site.server.url}/r/${code}`);
    await showsText(device, 'below the path');
  });

  it('[SUB-3] [SUB-5] has a service worker and stored values of its own', async (t) => {
    const { site, base } = await startProxiedSite(t);
    const { page, context } = await site.openDevice({ at: `${base}/`, serviceWorkers: 'allow' });
    await waitForServiceWorker(page);
    const registered = await page.evaluate(async () =>
      (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
    );
    assert.deepEqual(registered, [`${base}/`]);
    // Another installation on the same host has these.
    await page.evaluate(async () => {
      localStorage.setItem('poproom:language', '"fr"');
      await caches.open('poproom-shell-0123456789ab');
      await caches.open('poproom-share');
    });
    await context.setOffline(true);
    await page.reload();
    await page.getByText('You’re offline.').waitFor();
    await context.setOffline(false);

    await submitShare(page, '/poproom/share', { text: 'shared' });
    await page.waitForURL(`${base}/share`);
    await page.getByText('shared').first().waitFor();
    const [keys, names] = await page.evaluate(async () => [Object.keys(localStorage), await caches.keys()] as const);
    const own = (name: string) => name.includes('/poproom');
    assert.deepEqual(
      keys.filter((key) => !own(key)),
      ['poproom:language'],
    );
    assert.ok(keys.some(own));
    assert.deepEqual(names.filter((name) => !own(name)).toSorted(), ['poproom-share', 'poproom-shell-0123456789ab']);
    assert.deepEqual(names.filter(own).length, 2);
  });
});

async function startProxiedSite(t: TestContext) {
  const sites: Awaited<ReturnType<typeof startTestSite>>[] = [];
  const start = async (publicUrl: string) => {
    const site = await startTestSite(t, { POPROOM_PUBLIC_URL: publicUrl });
    sites.push(site);
    return site.server;
  };
  const { url: base } = await startBehindProxy(t, 'nginx', { start });
  const [site = assert.fail()] = sites.slice(-1);
  const openDevice: typeof site.openDevice = ({ at = '', ...options } = {}) =>
    site.openDevice({ ...options, at: at.startsWith('http') ? at : base + at });
  return { site: { ...site, openDevice }, base };
}

/** The paths of all requests of the page from now on. */
function requestsOf(page: Page): string[] {
  const paths: string[] = [];
  page.on('request', (request) => {
    const { protocol, pathname } = new URL(request.url());
    if (protocol === 'http:') paths.push(pathname);
  });
  page.on('websocket', (socket) => paths.push(new URL(socket.url()).pathname));
  return paths;
}

async function chooseGerman(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  assert.equal(await page.getByRole('link', { name: 'API documentation' }).getAttribute('href'), '/poproom/docs');
  await page.getByRole('combobox').selectOption('de');
  await page.getByRole('dialog', { name: translatorFor('de')('settings') }).waitFor();
}

/** The page of a broken link is in German, and leads to the home page. */
async function assertErrorPage(page: Page, base: string): Promise<void> {
  const t = translatorFor('de');
  const response = await page.goto(`${base}/no/such/page`);
  assert.equal(response?.status(), 404);
  await page.getByRole('heading', { name: t('pageMissing') }).waitFor();
  assert.equal(await page.getByRole('link', { name: t('home') }).getAttribute('href'), '/poproom/');
  await page.getByRole('button', { name: t('backToHome') }).click();
  await page.getByRole('button', { name: t('start') }).waitFor();
  await page.waitForURL(`${base}/`);
}
