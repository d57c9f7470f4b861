/** Uploads that are interrupted: by a lost connection, a reload, a failure, or the user. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  joinRoom,
  sharedTestSite,
  startRoom,
  startTestSite,
  type TestSite,
} from '../support/page.ts';
import { assertNothingStored } from '../support/stored-blobs.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { arrived, dropFiles, fileInput, pickFiles, rowOf, type SlowNetwork, slowDown } from './support/files.ts';

const mebibyte = 1024 * 1024;
/** More than is sent in one request. */
const videoBytes = 7 * mebibyte;
const phoneScreen = { viewport: { width: 375, height: 700 } };

describe('the page, an upload whose connection is lost', () => {
  it('[slow] [PAGE-30] waits for the connection and continues where it was', async (t) => {
    const site = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => site.server.port);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code, { baseURL: proxy.url, ...phoneScreen });
    const [sent, created] = [countSentBytes(page), countCreations(page)];
    const network = await slowDown(page, mebibyte);
    await addVideo(page);
    await eventually('the server has a part', () => sent() >= mebibyte);
    await network.setOffline(true);
    proxy.disconnect();
    await rowOf(page, 'video.mp4').getByText('Waiting for connection').waitFor();
    await network.restore();
    await arrived(page, 'video.mp4');
    assert.equal(created(), 1, 'it did not start again');
    assert.ok(sent() <= videoBytes, `${sent()} bytes`);
    assert.equal(await hashOf(site, code, 'video.mp4'), videoHash);
  });

  it('[slow] [PAGE-30] continues when the server is back', async (t) => {
    const site = await startTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    // Slow enough that neither ends before the server does.
    const network = await slowDown(page, mebibyte / 8);
    await addVideo(page);
    await dropFiles(page, 'body', [{ name: 'small.txt', content: 2 * mebibyte }]);
    await progressed(page);
    const port = String(site.server.port);
    await site.server.stop();
    for (const name of ['video.mp4', 'small.txt']) {
      await rowOf(page, name).getByText('Waiting for connection').waitFor();
    }
    await network.restore();
    await site.server.restart({ PORT: port });
    for (const name of ['video.mp4', 'small.txt']) await arrived(page, name);
    assert.equal(await hashOf(site, code, 'video.mp4'), videoHash);
  });

  it('[slow] [PAGE-30] waits when it is added offline, and is sent later in order', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const { page, context } = device;
    const prefetched = page.waitForResponse((response) => response.url().includes('/assets/transfer.'));
    const code = await startRoom(device);
    await (await prefetched).finished();
    await context.setOffline(true);
    await page.getByText('No connection.').waitFor();
    const names = ['1.txt', '2.txt', '3.txt', '4.txt'];
    await pickFiles(
      page,
      names.map((name) => ({ name, content: name })),
    );
    for (const name of names) await rowOf(page, name).getByText('Waiting for connection').waitFor();
    const begun: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/upload')) begun.push(request.headers()['x-file-name'] ?? '');
    });
    await context.setOffline(false);
    for (const name of names) await arrived(page, name);
    assert.deepEqual(begun, names);
    assert.equal((await filesOf(site, code)).length, 4);
  });
});

describe('the page, an upload that a reload interrupts', () => {
  it('[slow] [PAGE-30] continues when the same file is picked again', async (t) => {
    const { site, device, code, network } = await uploading(t);
    const { page } = device;
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByRole('textbox', { name: 'Text' }).waitFor();
    const created = countCreations(page);
    const sent = countSentBytes(page);
    await network.restore();
    await addVideo(page);
    await arrived(page, 'video.mp4');
    assert.equal(created(), 0);
    assert.ok(sent() <= videoBytes - mebibyte, `${sent()} bytes`);
    assert.equal(await hashOf(site, code, 'video.mp4'), videoHash);
    assert.equal(await storedIds(page), 0);
  });

  it('[slow] [PAGE-30] starts again if the server no longer has it', async (t) => {
    const { site, device, code, network } = await uploading(t);
    const { page } = device;
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByRole('textbox', { name: 'Text' }).waitFor();
    const [id] = await page.evaluate(() => Object.entries(sessionStorage).filter(([key]) => key.includes('upload:')));
    const headers = { 'tus-resumable': '1.0.0' };
    await site.server.api.delete(`/api/rooms/${code}/uploads/${JSON.parse(id?.[1] ?? '')}`, { headers });
    const created = countCreations(page);
    await network.restore();
    await addVideo(page);
    await arrived(page, 'video.mp4');
    assert.equal(created(), 1);
    assert.equal(await storedIds(page), 0);
  });
});

describe('the page, an upload that the user interrupts', () => {
  it('[slow] [PAGE-10] [PAGE-30] is deleted on the server when it is cancelled', async (t) => {
    const { site, device, code } = await uploading(t, startTestSite);
    await device.page.getByRole('button', { name: 'Cancel upload of video.mp4' }).click();
    await rowOf(device.page, 'video.mp4').waitFor({ state: 'detached' });
    await assertNothingStored(site.server, code);
    await eventually('its space is free', async () => {
      return (await site.server.api.get(`/api/rooms/${code}`)).json.fileBytes === 0;
    });
    assert.equal(await storedIds(device.page), 0);
  });

  it('[PAGE-31] asks before the room is left: by a link, with Back, and when the page is closed', async (t) => {
    const site = await sharedTestSite(t);
    // From the home page, to which Back leads.
    const device = await site.openDevice();
    const { page } = device;
    const code = await startRoom(device);
    // The upload must not end before the user has left.
    await page.route('**/upload', () => undefined);
    await dropFiles(page, 'body', [{ name: 'video.mp4', content: 1_000 }]);
    await rowOf(page, 'video.mp4').getByRole('progressbar').waitFor();
    const question = page.getByRole('dialog', { name: 'Leave this room?' });
    await page.getByRole('link', { name: 'Poproom home' }).click();
    await question.getByRole('button', { name: 'Stay' }).click();
    await question.waitFor({ state: 'detached' });
    await page.evaluate(() => history.back());
    await question.waitFor();
    assert.equal(new URL(page.url()).pathname, `/r/${code}`);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await rowOf(page, 'video.mp4').getByRole('progressbar').waitFor();

    const [asked] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
    assert.equal(asked.type(), 'beforeunload');
    await asked.dismiss();

    await page.evaluate(() => history.back());
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
  });

  it('[slow] [PAGE-31] does not ask when nothing is being uploaded', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await joinRoom(site, await site.server.api.room());
    await pickFiles(page, [{ name: 'a.txt', content: 'a' }]);
    await arrived(page, 'a.txt');
    await eventually('it is done', async () => (await page.getByRole('progressbar').count()) === 0);
    await page.getByRole('link', { name: 'Poproom home' }).click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
  });
});

describe('the page, several uploads that fail', () => {
  it('[slow] [PAGE-10] are retried together, and dismissed together', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice(phoneScreen);
    const { page } = device;
    const code = await startRoom(device);
    await page.route('**/upload', (route) => route.fulfill({ status: 500, body: 'broken' }));
    const names = ['1.txt', '2.txt', '3.txt'];
    await pickFiles(
      page,
      names.map((name) => ({ name, content: name })),
    );
    await page.getByText('3 uploads failed.').waitFor();
    await page.unroute('**/upload');
    await page.getByRole('button', { name: 'Cancel upload of 2.txt' }).click();
    await page.getByRole('button', { name: 'Retry all' }).click();
    for (const name of ['1.txt', '3.txt']) await arrived(page, name);

    await page.route('**/upload', (route) => route.fulfill({ status: 500, body: 'broken' }));
    await pickFiles(
      page,
      ['4.txt', '5.txt'].map((name) => ({ name, content: name })),
    );
    await page.getByRole('button', { name: 'Dismiss all' }).click();
    for (const name of ['4.txt', '5.txt']) await rowOf(page, name).waitFor({ state: 'detached' });
    assert.deepEqual((await filesOf(site, code)).map(({ fileName }) => fileName).sort(), ['1.txt', '3.txt']);
  });
});

interface Uploading {
  site: TestSite;
  device: BrowserDevice;
  code: string;
  network: SlowNetwork;
}

/** A large file on its way, of which the server has a part. */
async function uploading(t: TestContext, start = sharedTestSite): Promise<Uploading> {
  const site = await start(t);
  // From the home page, to which Back leads.
  const device = await site.openDevice();
  const code = await startRoom(device);
  const sent = countSentBytes(device.page);
  const network = await slowDown(device.page, mebibyte);
  await addVideo(device.page);
  await eventually('the server has a part', () => sent() >= mebibyte);
  await network.limit(mebibyte / 16);
  return { site, device, code, network };
}

/** Picks a file that is the same each time. */
async function addVideo(page: Page): Promise<void> {
  const input = await fileInput(page);
  await input.evaluate((input: HTMLInputElement, bytes) => {
    const transfer = new DataTransfer();
    const content = new Uint8Array(bytes).fill('x'.charCodeAt(0));
    transfer.items.add(new File([content], 'video.mp4', { type: 'video/mp4', lastModified: 1_700_000_000_000 }));
    input.files = transfer.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
  }, videoBytes);
}

async function progressed(page: Page): Promise<void> {
  await page.waitForFunction(() => Number(document.querySelector('progress')?.value) > 0);
}

/** The bytes of all parts that the server has confirmed. */
function countSentBytes(page: Page): () => number {
  let bytes = 0;
  page.on('response', (response) => {
    const request = response.request();
    if (request.method() !== 'PATCH') return;
    const { 'upload-offset': from = '0' } = request.headers();
    bytes += Math.max(0, Number(response.headers()['upload-offset'] ?? from) - Number(from));
  });
  return () => bytes;
}

function countCreations(page: Page): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/uploads')) count++;
  });
  return () => count;
}

const storedIds = (page: Page) =>
  page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('upload:')).length);

interface Listed {
  fileName: string;
  fileUrl: string;
}

async function filesOf({ server }: TestSite, code: string): Promise<Listed[]> {
  return (await server.api.get(`/api/rooms/${code}/files`)).json.files;
}

async function hashOf(site: TestSite, code: string, name: string): Promise<string> {
  const file = (await filesOf(site, code)).find(({ fileName }) => fileName === name);
  const { pathname } = new URL(file?.fileUrl ?? '');
  const response = await fetch(`http://127.0.0.1:${site.server.port}${pathname}`);
  return hash(Buffer.from(await response.arrayBuffer()));
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const videoHash = hash(Buffer.alloc(videoBytes, 'x'));
