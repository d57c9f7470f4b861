/** The page of `poproom ui` in a browser, with a server that is honest or not. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import type { Download, Page } from 'playwright-core';
import { createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { unzip } from '../support/info-zip.ts';
import { baseOf, openLocalPage, shown, startLocalPage } from '../support/local-page.ts';
import { startMaliciousServer } from '../support/malicious-server.ts';
import {
  codeOf,
  joinRoom,
  sharedTestSite,
  showsStatus,
  showsText,
  startRoom,
  startTestSite,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { arrived, pickFiles, picture, rowOf } from './support/files.ts';
import { readQr } from './support/qr.ts';

async function downloaded(page: Page, act: () => Promise<void>): Promise<Download> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return download;
}

const sealedDownload = (page: Page, name: string) =>
  page.getByRole('button', { name: `Download ${name}`, exact: true });

/** Notes in the page whether it uses the files that the browser keeps for its origin. */
function notePrivateFiles(): void {
  const { storage } = navigator;
  const open = storage.getDirectory.bind(storage);
  storage.getDirectory = () => {
    document.body.dataset.privateFiles = 'used';
    return open();
  };
}

const contentOf = async (download: Download) => readFile(await download.path());

async function startLocalSite(t: TestContext, site: TestSite, args: readonly string[] = []) {
  const local = await startLocalPage(t, site.server.url, { args });
  return { local, device: await openLocalPage(site, local) };
}

describe('the page of poproom ui', () => {
  it('[UI-1] [UI-4] does what the page of the server does, and has its links', async (t) => {
    const site = await sharedTestSite(t);
    const { device } = await startLocalSite(t, site);
    const { page } = device;
    const { host } = new URL(site.server.url);
    await page.locator('header').getByText(`Server: ${host}`).waitFor();
    const code = await startRoom(device);
    assert.equal(await readQr(page, 'QR code for this room'), `${site.server.url}/r/${code}`);
    const other = await joinRoom(site, code);
    await textOf(device).fill('from the command');
    await showsText(other, 'from the command');
    await textOf(other).fill('from the server');
    await showsText(device, 'from the server');

    const large = 6 * 1024 * 1024;
    await pickFiles(page, [
      { name: 'icon.png', type: 'image/png', content: picture },
      { name: 'large.bin', content: large },
      { name: 'page.html', type: 'text/html', content: '<script>alert(1)</script>' },
    ]);
    for (const name of ['icon.png', 'large.bin', 'page.html']) await arrived(other.page, name);
    await arrived(page, 'large.bin');
    const thumbnail = rowOf(page, 'icon.png').locator('img');
    await eventually('the thumbnail is shown', () =>
      thumbnail.evaluate((image) => (image as HTMLImageElement).naturalWidth > 0),
    );
    await rowOf(page, 'icon.png').getByRole('link', { name: 'icon.png', exact: true }).click();
    const viewed = page.getByRole('dialog').getByRole('img', { name: 'icon.png' });
    await eventually('the image is shown', () =>
      viewed.evaluate((image) => (image as HTMLImageElement).naturalWidth > 0),
    );
    await page.keyboard.press('Escape');

    const one = await downloaded(page, () =>
      rowOf(page, 'page.html').getByRole('link', { name: 'Download page.html' }).click(),
    );
    assert.equal(String(await contentOf(one)), '<script>alert(1)</script>');
    assert.ok(one.url().startsWith(baseOf(page)), one.url());
    const all = await downloaded(page, () => page.getByRole('button', { name: 'Download all' }).click());
    assert.equal(all.suggestedFilename(), `poproom-${code}.zip`);
    const files = await unzip(t, await contentOf(all));
    assert.deepEqual(files.map(({ path, bytes }) => `${path} ${bytes.length}`).sort(), [
      `icon.png ${picture.length}`,
      `large.bin ${large}`,
      'page.html 25',
    ]);
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByLabel('Device name').waitFor();
    assert.equal(await page.getByRole('link', { name: 'API documentation' }).count(), 0);
  });

  it('[UI-1] [UI-5] encrypts with the code of this installation, together with the page of the server', async (t) => {
    const site = await sharedTestSite(t);
    const { device } = await startLocalSite(t, site);
    const { page } = device;
    const other = await site.openDevice();
    for (const one of [page, other.page]) await one.evaluate(notePrivateFiles);
    await page.getByText('Options').click();
    await page.getByRole('checkbox', { name: 'Encrypt this room' }).check();
    const code = await startRoom(device);
    const link = await readQr(page, 'QR code for this room');
    assert.match(link, new RegExp(`^${site.server.url}/r/${code}#[0-9A-Z]{16}$`));
    await textOf(device).fill('for us only');
    await other.page.getByRole('textbox', { name: 'Code or link' }).fill(link);
    await other.page.getByRole('button', { name: 'Join', exact: true }).click();
    await showsText(other, 'for us only');
    await textOf(other).fill('for both of us');
    await showsText(device, 'for both of us');
    await pickFiles(page, [{ name: 'secret.txt', type: 'text/plain', content: 'a secret' }]);
    await sealedDownload(other.page, 'secret.txt').waitFor();
    await pickFiles(other.page, [{ name: 'answer.txt', type: 'text/plain', content: 'an answer' }]);
    await sealedDownload(page, 'answer.txt').waitFor();
    for (const one of [page, other.page]) {
      const saved = await downloaded(one, () => sealedDownload(one, 'answer.txt').click());
      assert.equal(String(await contentOf(saved)), 'an answer');
    }
    const privateFiles = (one: Page) => one.evaluate(() => document.body.dataset.privateFiles);
    await eventually('the page of the server uses them', () => privateFiles(other.page));
    assert.equal(await privateFiles(page), undefined);
    await page.reload();
    await showsText(device, 'for both of us');
  });

  it('[UI-2] survives a reload and opens in further tabs, and its link is not in the history', async (t) => {
    const site = await sharedTestSite(t);
    const { local, device } = await startLocalSite(t, site);
    const { page, context } = device;
    await page.reload();
    await shown(page);
    const session = await context.newCDPSession(page);
    const { entries } = await session.send('Page.getNavigationHistory');
    assert.deepEqual(
      entries.filter(({ url }) => url.includes('token')),
      [],
    );
    assert.equal(await page.evaluate(() => document.cookie), '');
    const second = await context.newPage();
    await second.goto(`${baseOf(page)}/invite`);
    await shown(second);
    const stranger = await site.openDevice({ at: 'about:blank' });
    await stranger.page.goto(`${baseOf(page)}/`);
    await stranger.page.getByText('Open the link that "poproom ui" shows').waitFor();
    const used = await context.newPage();
    await used.goto(local.link);
    await used.getByText('It works once').waitFor();
  });

  it('[UI-3] runs no script of a server that sends pages, scripts and foreign links', async (t) => {
    const site = await startTestSite(t, {}, { hasServiceWorker: true });
    const malicious = await startMaliciousServer(t, () => site.server.port);
    const local = await startLocalPage(t, malicious.url);
    const device = await openLocalPage(site, local);
    const { page } = device;
    const evil = 'document.documentElement.dataset.evil = "1"; fetch("/evil")';
    const id = '0'.repeat(32);
    malicious.tamperMessage = (message) => {
      const files = [
        {
          fileId: id,
          fileUrl: `https://evil.example/files/${id}/evil.png`,
          fileName: 'evil.png',
          contentType: 'image/png',
        },
        { fileId: id, fileUrl: `javascript:${evil}//${id}/x`, fileName: 'evil.bin', contentType: 'x/x' },
        { fileId: id, fileUrl: `https://evil.example/${evil}`, fileName: 'other.bin', contentType: 'x/x' },
      ].map((file) => ({ ...file, fileSize: 10, uploadedAt: '2026-11-15T09:30:00.000Z' }));
      return message.type === 'snapshot' ? { ...message, files } : message;
    };
    const isAsset = (path: string) => path.startsWith('/api/rooms') || path.startsWith('/livez');
    malicious.answer = ({ path }) =>
      isAsset(path)
        ? undefined
        : {
            status: 200,
            headers: { 'content-type': 'text/html', 'service-worker-allowed': '/', 'content-disposition': 'inline' },
            body: Buffer.from(`<script>${evil}</script>`),
          };
    await startRoom(device);
    await arrived(page, 'other.bin');
    const foreign: string[] = [];
    page.context().on('request', (request) => {
      if (!request.url().startsWith(local.origin) && !request.url().startsWith('blob:')) foreign.push(request.url());
    });
    const hrefs = await page
      .locator('.file-list a[href], .files a[href]')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
    const base = baseOf(page);
    for (const href of [...hrefs, `${base}/files/${id}/evil.html`]) {
      assert.ok(href.startsWith(`${base}/files/`), href);
      const tab = await page.context().newPage();
      await tab.goto(href).catch((error) => assert.match(String(error), /Download is starting|ERR_ABORTED/));
      assert.equal(await tab.evaluate(() => document.documentElement.dataset.evil), undefined, href);
      await tab.close();
    }
    assert.ok(hrefs.length >= 3, `${hrefs.length} links`);
    // Errors of this tab are expected.
    const tab = await page.context().newPage();
    await tab.goto(`${base}/`);
    const outcomes = await tab
      .evaluate(
        async ({ base, id }) => {
          const url = `${base}/files/${id}/evil.js`;
          const script = () =>
            new Promise((resolve) => {
              const element = document.createElement('script');
              const { trustedTypes } = window as unknown as { trustedTypes?: object };
              element.onload = () => resolve('ran');
              element.onerror = () => resolve('refused');
              try {
                element.src = url;
              } catch {
                resolve(trustedTypes ? 'refused' : 'failed');
              }
              document.head.append(element);
            });
          const imported = () =>
            import(url).then(
              () => 'ran',
              () => 'refused',
            );
          const worker = () =>
            navigator.serviceWorker.register(url).then(
              () => 'ran',
              () => 'refused',
            );
          return [await script(), await imported(), await worker()];
        },
        { base, id },
      )
      .catch((error) => [String(error)]);
    assert.deepEqual([...new Set(outcomes)], ['refused']);
    for (const one of [page, tab])
      assert.equal(await one.evaluate(() => document.documentElement.dataset.evil), undefined);
    assert.deepEqual(foreign, []);
    assert.ok(!malicious.sent.some((sent) => sent.includes('/evil ')));
  });

  it('[UI-5] remembers rooms for the next start on another port, and keeps nothing in the browser', async (t) => {
    const site = await sharedTestSite(t);
    const cli = await createCli(t);
    const first = await startLocalPage(t, site.server.url, { cli });
    const one = await openLocalPage(site, first);
    const code = await startRoom(one);
    await textOf(one).fill('remembered');
    await showsStatus(one, 'Saved');
    const tab = await one.context.newPage();
    await tab.goto(`${baseOf(one.page)}/`);
    await tab.getByRole('button', { name: code }).first().waitFor();
    await tab.getByRole('button', { name: 'Settings', exact: true }).click();
    await tab.getByRole('radio', { name: 'Dark' }).check();
    await one.page.locator('html[data-theme="dark"]').waitFor({ state: 'attached' });
    const stored = await one.page.evaluate(async () => {
      const databases = await indexedDB.databases();
      return { local: { ...localStorage }, tab: Object.keys(sessionStorage), databases, caches: await caches.keys() };
    });
    assert.deepEqual(stored, { local: {}, tab: ['poproom:tab-values'], databases: [], caches: [] });
    assert.deepEqual(await one.page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
    first.command.signal('SIGINT');
    await first.command.result;

    const second = await startLocalPage(t, site.server.url, { cli });
    assert.notEqual(second.origin, first.origin);
    const two = await openLocalPage(site, second);
    await two.page.locator('html[data-theme="dark"]').waitFor({ state: 'attached' });
    await two.page.getByRole('button', { name: code }).first().click();
    await showsText(two, 'remembered');
  });

  it('[UI-6] opens a room by its code, with the key that this computer has', async (t) => {
    const site = await sharedTestSite(t);
    const cli = await createCli(t, { POPROOM_URL: site.server.url });
    const { roomId: code } = JSON.parse((await cli.run(['new', '--encrypted', '--json'])).stdout);
    await cli.run(['put', code, 'from the terminal']);
    const local = await startLocalPage(t, site.server.url, { cli, args: [code.toLowerCase()] });
    const device = await openLocalPage(site, local);
    await showsText(device, 'from the terminal');
    assert.equal(codeOf(device.page), code);
    await textOf(device).fill('from the page');
    await showsStatus(device, 'Saved');
    assert.equal((await cli.run(['get', code])).stdout, 'from the page');
  });

  it('[UI-7] shows that the server cannot be reached, and sends what was typed when it can', async (t) => {
    const site = await startTestSite(t);
    const malicious = await startMaliciousServer(t, () => site.server.port);
    const local = await startLocalPage(t, malicious.url);
    const device = await openLocalPage(site, local);
    const code = await startRoom(device);
    await site.server.stop();
    await showsStatus(device, 'Offline');
    await textOf(device).fill('typed while offline');
    await device.page.reload();
    await site.server.restart();
    await showsText(device, 'typed while offline');
    await showsStatus(device, 'Saved');
    assert.equal((await site.server.api.get(`/api/rooms/${code}/content`)).json.content, 'typed while offline');
  });
});
