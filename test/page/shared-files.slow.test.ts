/** Files and text in a room: looked at, taken, removed, and never more than what they are. */
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { joinRoom, sharedTestSite, startTestSite, textOf } from '../support/page.ts';
import { arrived, pickFiles, picture, rowOf } from './support/files.ts';

const asPicture = { headers: { 'content-type': 'image/png' } };

describe('the page, files of a room', () => {
  it('[PAGE-12] [PAGE-22] show a thumbnail if they are pictures, and an icon if they only claim to be', async (t) => {
    const { server, openDevice } = await sharedTestSite(t);
    const code = await server.api.room();
    await server.api.upload(code, 'picture.png', new Uint8Array(picture), asPicture);
    await server.api.upload(code, 'broken.png', 'this is no picture', asPicture);
    await server.api.upload(code, 'active.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', {
      headers: { 'content-type': 'image/svg+xml' },
    });
    const { page } = await openDevice({ at: `/r/${code}` });
    await seesPicture(page, 'picture.png');
    await arrived(page, 'broken.png');
    await rowOf(page, 'broken.png').locator('img').waitFor({ state: 'detached' });
    assert.equal(await rowOf(page, 'active.svg').locator('img').count(), 0);
  });

  it('[slow] [PAGE-12] [PAGE-22] show it also if the server uses another origin for files', async (t) => {
    const { page, filesUrl } = await roomWithFront(t);
    await seesPicture(page, 'picture.png');
    const source = await rowOf(page, 'picture.png').locator('img').getAttribute('src');
    assert.equal(new URL(source ?? '').origin, filesUrl);
  });

  it('[slow] [PAGE-40] [PAGE-22] open in the viewer also from another origin, a PDF in a frame that its own policy sandboxes', async (t) => {
    const { page, filesUrl, upload } = await roomWithFront(t);
    await upload('film.webm', 'video/webm');
    await upload('report.pdf', 'application/pdf');
    // The browser of the tests has no viewer for PDF, and downloads the file in the frame instead.
    await page.addInitScript(() => Object.defineProperty(navigator, 'pdfViewerEnabled', { value: true }));
    await page.reload();
    const [framed] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('report.pdf')),
      page.getByRole('link', { name: 'report.pdf', exact: true }).click(),
    ]);
    assert.equal(new URL(framed.url()).origin, filesUrl);
    assert.match(framed.headers()['content-security-policy'] ?? '', /^sandbox;/);
    const viewer = page.getByRole('dialog');
    assert.equal(await viewer.getByRole('link', { name: 'Open in new tab' }).getAttribute('href'), framed.url());
    const [film] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('film.webm')),
      page.keyboard.press('ArrowRight'),
    ]);
    assert.ok(film.ok());
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowLeft');
    const image = viewer.getByRole('img', { name: 'picture.png' });
    await eventually('it is drawn', () => image.evaluate((img: HTMLImageElement) => img.naturalWidth > 0));
  });

  it('[slow] [PAGE-12] are downloaded from another origin without leaving the room', async (t) => {
    const { page, code } = await roomWithFront(t);
    const link = page.getByRole('link', { name: 'Download picture.png' });
    await link.waitFor();
    const download = page.waitForEvent('download');
    await link.click();
    assert.equal((await download).suggestedFilename(), 'picture.png');
    assert.equal(new URL(page.url()).pathname, `/r/${code}`, 'the room is still there');
  });

  it('[PAGE-12] are downloaded under their names, and their links can be copied', async (t) => {
    const { server, openDevice } = await sharedTestSite(t);
    const code = await server.api.room();
    const uploaded = await server.api.upload(code, 'für Ada.txt', 'hello');
    const { page } = await openDevice({ at: `/r/${code}`, permissions: ['clipboard-read', 'clipboard-write'] });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download für Ada.txt' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'für Ada.txt');
    assert.equal(await text(await download.createReadStream()), 'hello');

    await page.getByRole('button', { name: 'Copy link to für Ada.txt' }).click();
    await page.getByRole('status').filter({ hasText: 'Copied.' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), uploaded.json.fileUrl);
  });

  it('[slow] [PAGE-12] [PAGE-40] are opened in a separate tab with a modifier key, which cannot access the room', async (t) => {
    const { server, openDevice } = await sharedTestSite(t);
    const code = await server.api.room();
    await server.api.upload(code, 'picture.png', new Uint8Array(picture), asPicture);
    const { page, context } = await openDevice({ at: `/r/${code}` });
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: 'picture.png', exact: true }).click({ modifiers: ['ControlOrMeta'] }),
    ]);
    // A new tab shows an empty document first.
    await tab.waitForURL(/\/picture\.png$/);
    assert.equal(await tab.evaluate(() => window.opener), null);
  });

  it('[slow] [PAGE-12] are removed on all devices; a failure is reported, and can be retried', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code, { serviceWorkers: 'block' });
    const phone = await joinRoom(site, code);
    await pickFiles(
      laptop.page,
      ['keep.txt', 'remove.txt'].map((name) => ({ name, content: name })),
    );
    await arrived(phone.page, 'remove.txt');

    const button = laptop.page.getByRole('button', { name: 'Remove remove.txt' });
    await laptop.page.route('**/files/*', (route) => route.abort());
    await button.click();
    await laptop.page.getByRole('status').filter({ hasText: 'Can’t reach the server.' }).waitFor();
    await laptop.page.unroute('**/files/*');
    await eventually('it can be tried again', () => button.isEnabled());
    await button.click();
    for (const { page } of [laptop, phone]) {
      await page.getByRole('button', { name: 'Remove remove.txt' }).waitFor({ state: 'detached' });
      await arrived(page, 'keep.txt');
    }
  });

  it('[PAGE-22] are shown with their names as plain text, however hostile the name', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code, { viewport: { width: 320, height: 640 } });
    const markup = '<img src=x onerror=document.title=1>.png';
    const long = `${'a'.repeat(240)}.txt`;
    await pickFiles(laptop.page, [
      { name: markup, type: 'image/png', content: picture },
      { name: 'invoice\u202Efdp.exe', content: 'x' },
      { name: long, content: 'x' },
    ]);
    for (const { page } of [laptop, phone]) {
      for (const name of [markup, 'invoicefdp.exe', long]) {
        await arrived(page, name);
        assert.equal(await page.getByRole('link', { name, exact: true }).textContent(), name);
      }
      assert.equal(await page.locator('img[src="x"]').count(), 0);
      assert.equal(await page.title(), `${code} · Poproom`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits');
    }
  });

  it('[slow] [PAGE-22] [PAGE-9] are shown next to plain text, whose links lead only to the web and to e-mail', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    const hostile =
      '<img src=x onerror=document.title=1><script>document.title=1</script> javascript:alert(1) ' +
      'data:text/html,<b>x</b> https://example.org/?<script>document.title=1</script> mailto:a@example.org';
    await textOf(laptop).fill(hostile);
    const links = phone.page.getByRole('navigation', { name: 'Links in the text' }).getByRole('link');
    await links.first().waitFor();
    assert.equal(await textOf(phone).inputValue(), hostile);
    for (const link of await links.all()) {
      assert.match((await link.getAttribute('href')) ?? '', /^(https:\/\/example\.org\/|mailto:a@example\.org$)/);
      assert.match((await link.getAttribute('rel')) ?? '', /noopener/);
    }
    assert.equal(await phone.page.locator('img[src="x"], main script').count(), 0);
    assert.equal(await phone.page.title(), `${code} · Poproom`);
  });
});

async function seesPicture(page: Page, name: string): Promise<void> {
  const image = rowOf(page, name).locator('img');
  await image.waitFor();
  await eventually('it is drawn', () =>
    image.evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0),
  );
}

interface RoomWithFront {
  page: Page;
  code: string;
  filesUrl: string;
  /** Adds a file that is not really of its type. */
  upload(name: string, type: string): Promise<unknown>;
}

/** A room with a picture, whose files have an origin of their own. */
async function roomWithFront(t: TestContext): Promise<RoomWithFront> {
  const front = await openFront(t);
  const { server, openDevice } = await startTestSite(t, { POPROOM_FILES_URL: front.url }, { filesOrigin: front.url });
  front.behind = server.port;
  const code = await server.api.room();
  await server.api.upload(code, 'picture.png', new Uint8Array(picture), asPicture);
  const { page } = await openDevice({ at: `/r/${code}` });
  const upload = (name: string, type: string) =>
    server.api.upload(code, name, 'x', { headers: { 'content-type': type } });
  return { page, code, filesUrl: front.url, upload };
}

interface Front {
  url: string;
  /** The port of the server behind it. */
  behind: number;
}

/** Another origin in front of the files, as a proxy is. */
async function openFront(t: TestContext): Promise<Front> {
  const front: Front = { url: '', behind: 0 };
  const listener = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    request({ port: front.behind, path: `/files${url}`, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    })
      // The server stops before the page is closed.
      .on('error', () => outgoing.destroy())
      .end();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.after(() => listener.close());
  front.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return front;
}
