/** Files of encrypted rooms in the page: large ones, interrupted uploads, and malicious servers. */
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { FileEntry } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { unzip } from '../support/info-zip.ts';
import { startKeystreamAttack } from '../support/keystream-attack.ts';
import { copyOf, startMaliciousServer, tamperFileLists } from '../support/malicious-server.ts';
import { joinRoom, sharedTestSite, startTestSite } from '../support/page.ts';
import {
  addFiles,
  alert,
  arrived,
  button,
  bytesOf,
  createRoom,
  downloaded,
  hash,
  large,
  pathOf,
} from './support/encrypted-files.ts';
import { fileInput, picture, rowOf } from './support/files.ts';

const mebibyte = 1024 * 1024;

/** Measures the memory in use by the page, without garbage, until it is stopped. */
async function watchMemory(page: Page) {
  const session = await page.context().newCDPSession(page);
  let [isWatching, measured, peak] = [true, 0, 0];
  async function inUse(): Promise<number> {
    await session.send('HeapProfiler.collectGarbage');
    const usage = (await session.send('Runtime.getHeapUsage')) as { usedSize: number; backingStorageSize?: number };
    return usage.usedSize + (usage.backingStorageSize ?? assert.fail('no size of buffers'));
  }
  async function watch(): Promise<void> {
    while (isWatching) {
      // A busy machine frees the buffers of the first collection later, at the latest before the second one.
      peak = Math.max(peak, Math.min(await inUse(), await inUse()));
      measured += 1;
      await pause(100);
    }
  }
  const watched = watch();
  return {
    async stop() {
      isWatching = false;
      await watched;
      return { measured, peak };
    },
  };
}

describe('the page, files of an encrypted room', () => {
  it('[SEALED-81] are not held in memory while they are saved, if they are large', async (t) => {
    // Files of up to 64 MiB may be held in memory.
    const bytes = Buffer.alloc(65 * mebibyte, 'The film. ');
    const site = await startTestSite(t, { POPROOM_FILE_MAX: '100MiB' });
    const room = await createRoom(site);
    await room.upload(new Blob([bytes]), { name: 'film.mp4', type: 'video/mp4' });
    const { page } = await joinRoom(site, pathOf(room));
    // A test cannot answer the dialog of the system, so the file is saved through the private files of the origin.
    await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    await arrived(page, 'film.mp4');
    const memory = await watchMemory(page);
    const saved = await downloaded(page, () => button(page, 'Download film.mp4').click());
    const { measured, peak } = await memory.stop();
    t.diagnostic(`at most ${Math.round(peak / mebibyte)} MiB in use, measured ${measured} times`);
    assert.equal(hash(await bytesOf(saved)), hash(bytes));
    assert.ok(measured > 3, 'it was measured while the file was saved');
    // In memory, the page would collect parts of 16 MiB.
    assert.ok(peak < 16 * mebibyte, `${peak} bytes`);
  });

  it('[SEALED-86] continue an interrupted upload, also after a reload, with the same file', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    const { page } = await joinRoom(site, pathOf(room));
    let parts = 0;
    let created = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/uploads')) created += 1;
    });
    await page.route('**/uploads/*', (route) => {
      if (route.request().method() === 'PATCH') parts += 1;
      return parts > 2 ? route.abort() : route.continue();
    });
    await addVideo(page);
    await eventually('an upload is interrupted', () => parts > 2);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByRole('textbox', { name: 'Text' }).waitFor();
    await page.unroute('**/uploads/*');
    const offsets: number[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') offsets.push(Number(request.headers()['upload-offset']));
    });
    await addVideo(page);
    await arrived(page, 'video.mp4');
    assert.equal(created, 1, 'it did not start again');
    assert.ok(Math.min(...offsets) >= mebibyte, String(offsets));
    const [file] = await room.files();
    assert.ok(file);
    const bytes = new Uint8Array(await (await room.download(file)).arrayBuffer());
    assert.equal(hash(bytes), hash(Buffer.alloc(videoBytes, 'x')));
  });

  it('[SEALED-90] [SEALED-93] continue with the salt that the page has kept, whatever the server says', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    const proxy = await startMaliciousServer(t, () => site.server.port);
    const attack = startKeystreamAttack(proxy);
    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
    page.on('dialog', (dialog) => void dialog.accept());
    const [known, secret] = [Buffer.alloc(videoBytes, 'x'), Buffer.alloc(videoBytes, 'y')];

    async function interruptUpload(letter: string): Promise<void> {
      attack.interrupt();
      const expected = attack.sent.length + 2;
      await addVideo(page, letter);
      await eventually('the connection is lost', () => attack.sent.length >= expected);
    }

    /** The server accepts all parts, but the file does not appear in the room. */
    const isSent = (first: number) =>
      eventually('all parts are sent', () =>
        attack.sent.slice(first).some(({ at, bytes }) => at + bytes.length > videoBytes),
      );
    const reload = async () => {
      await page.reload();
      await page.getByRole('textbox', { name: 'Text' }).waitFor();
    };

    await page.getByRole('button', { name: 'Add files' }).waitFor();
    await addVideo(page, 'x');
    await arrived(page, 'video.mp4');
    await interruptUpload('y');
    // Without a reload, the page continues automatically when it is connected again.
    attack.pretend(attack.metas[0] ?? '');
    const before = attack.sent.length;
    proxy.closeChannels(1012);
    await isSent(before);
    assert.equal(attack.reveals(known, secret), false);

    await reload();
    await interruptUpload('y');
    await reload();
    const stored = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    const uploads = attack.metas.length;
    attack.pretend(attack.metas[0] ?? '');
    const beforeReload = attack.sent.length;
    await addVideo(page, 'y');
    await isSent(beforeReload);
    assert.deepEqual([attack.metas.length, attack.reveals(known, secret)], [uploads, false]);
    assert.match(stored, /upload:[\w-]{22}:\w+":"\\"[0-9a-f]{32}\.pop1\.[\w-]+\\""/);
    for (const secret of ['video', String(videoBytes), '1700000000000']) assert.ok(!stored.includes(secret), secret);

    await reload();
    await interruptUpload('y');
    await reload();
    attack.end();
    await addVideo(page, 'z');
    await eventually('the changed file is stored', async () => (await room.files()).length === 2);
    assert.equal(attack.metas.length, uploads + 2, 'it started again');
    assert.equal(attack.reveals(secret, Buffer.alloc(videoBytes, 'z')), false);
  });

  it('[SEALED-91] stop when the file changes during the upload, and start again when it is added again', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    const proxy = await startMaliciousServer(t, () => site.server.port);
    const attack = startKeystreamAttack(proxy);
    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
    const folder = await mkdtemp(join(tmpdir(), 'poproom-page-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'report.bin');
    const [before, after] = [Buffer.alloc(videoBytes, 'x'), Buffer.alloc(videoBytes, 'y')];
    await writeFile(path, before);
    const input = await fileInput(page);
    attack.interrupt();
    await input.setInputFiles(path);
    await eventually('the connection is lost', () => attack.sent.length >= 2);
    // In one step, because the page may be reading it.
    await writeFile(`${path}.new`, after);
    await rename(`${path}.new`, path);
    attack.pretend('');
    await alert(page, 'report.bin')
      .getByText('This file has changed since its upload started. Add it again.')
      .waitFor();
    assert.equal(await button(page, 'Retry upload of report.bin').count(), 0);
    await button(page, 'Cancel upload of report.bin').click();
    attack.end();
    await input.setInputFiles(path);
    await arrived(page, 'report.bin');
    assert.equal(attack.reveals(before, after), false);
  });

  it('[SEALED-94] [SEALED-95] have no name that the server chose, and appear once', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    await room.upload(new Blob(['1']), { name: 'a.txt' });
    await room.upload(new Blob(['2']), { name: 'b.txt' });
    const [one, two] = (await room.files()) as [FileEntry, FileEntry];
    const proxy = await startMaliciousServer(t, () => site.server.port);
    tamperFileLists(proxy, (files) => [...files, copyOf(one, '0')]);
    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
    await arrived(page, 'b.txt');
    proxy.inject({ type: 'file-added', seq: 100, file: copyOf(two, '1') });
    proxy.inject({ type: 'file-added', seq: 101, file: { ...two, meta: one.meta } });
    await room.upload(new Blob(['3']), { name: 'c.txt' });
    await arrived(page, 'c.txt');
    for (const name of ['a.txt', 'b.txt', 'c.txt']) assert.equal(await rowOf(page, name).count(), 1, name);
    const all = await downloaded(page, () => button(page, 'Download all').click());
    const paths = (await unzip(t, await bytesOf(all))).map(({ path, bytes }) => [path, String(bytes)]);
    assert.deepEqual(paths.sort(), [
      ['a.txt', '1'],
      ['b.txt', '2'],
      ['c.txt', '3'],
    ]);

    const chosen = { fileName: 'invoice.html', contentType: 'text/html' };
    tamperFileLists(proxy, ([first, second]) => {
      const { meta: _meta, ...bare } = second as FileEntry;
      return [
        { ...(first as FileEntry), ...chosen, meta: 'pop1.AAAA' },
        { ...bare, ...chosen },
      ];
    });
    await page.reload();
    await eventually('both are listed', async () => (await rowOf(page, 'encrypted').count()) === 2);
    assert.equal(await page.getByText('invoice').count(), 0);
    assert.equal(await page.locator('.file a').count(), 0, 'no link to bytes of the server');
    await button(page, 'Download encrypted').first().click();
    await page
      .getByRole('alert')
      .getByText('This file is damaged and can’t be decrypted. Nothing was saved.')
      .waitFor();
  });

  it('[SEALED-95] do not show the thumbnail of another file whose URL the server gives them', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    await addFiles(room, [
      { name: 'first.png', type: 'image/png', content: picture },
      { name: 'second.png', type: 'image/png', content: picture },
    ]);
    const [one, two] = (await room.files()) as [FileEntry, FileEntry];
    const proxy = await startMaliciousServer(t, () => site.server.port);
    tamperFileLists(proxy, ([first]) => [first as FileEntry]);
    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
    await rowOf(page, 'first.png').locator('img').waitFor();
    const requests = () => proxy.sent.filter((sent) => sent.startsWith(`GET ${new URL(one.fileUrl).pathname}`)).length;
    assert.equal(requests(), 1);
    proxy.inject({ type: 'file-added', seq: 100, file: { ...two, fileUrl: one.fileUrl } });
    await arrived(page, 'second.png');
    await eventually('it is downloaded again', () => requests() === 2);
    assert.equal(await rowOf(page, 'second.png').locator('img').count(), 0);
  });

  it('[SEALED-96] are not saved if the server cuts, extends, swaps or reorders them', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    const bytes = large.subarray(0, 200_000);
    await addFiles(room, [
      { name: 'a.bin', content: bytes },
      { name: 'b.bin', content: Buffer.from(bytes).fill('b') },
    ]);
    const [one, two] = (await room.files()) as [FileEntry, FileEntry];
    const swapped = Buffer.from(await (await fetch(two.fileUrl)).arrayBuffer());
    const chunkBytes = 64 * 1024 + 16;
    const changes: ((body: Buffer) => Buffer)[] = [
      (body) => body.subarray(0, -1),
      (body) => Buffer.concat([body, Buffer.of(0)]),
      () => swapped,
      (body) => {
        const chunk = (index: number) => body.subarray(8 + index * chunkBytes, 8 + (index + 1) * chunkBytes);
        return Buffer.concat([body.subarray(0, 8), chunk(1), chunk(0), body.subarray(8 + 2 * chunkBytes)]);
      },
    ];
    const proxy = await startMaliciousServer(t, () => site.server.port);
    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
    const started: string[] = [];
    page.on('download', (download) => started.push(download.suggestedFilename()));
    await arrived(page, 'a.bin');
    for (const change of changes) {
      proxy.tamper = (path, body) => (path.includes(one.fileId) ? change(body) : body);
      await button(page, 'Download a.bin').click();
      await alert(page, 'a.bin').getByText('This file is damaged and can’t be decrypted. Nothing was saved.').waitFor();
      await button(page, 'Cancel download of a.bin').click();
    }
    assert.deepEqual(started, []);
    proxy.tamper = (_path, body) => body;
    proxy.tamperResponse = (response, { path }) =>
      path.includes(one.fileId)
        ? { ...response, headers: { ...response.headers, 'content-type': 'text/html' } }
        : response;
    const saved = await downloaded(page, () => button(page, 'Download a.bin').click());
    assert.equal(hash(await bytesOf(saved)), hash(bytes));
  });
});

const videoBytes = 7 * mebibyte;

/** Picks a file that is the same each time, except for the letter that it consists of. */
async function addVideo(page: Page, letter = 'x'): Promise<void> {
  const input = await fileInput(page);
  await input.evaluate(
    (input: HTMLInputElement, { videoBytes, letter }) => {
      const transfer = new DataTransfer();
      const content = new Uint8Array(videoBytes).fill(letter.charCodeAt(0));
      transfer.items.add(new File([content], 'video.mp4', { type: 'video/mp4', lastModified: 1_700_000_000_000 }));
      input.files = transfer.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    },
    { videoBytes, letter },
  );
}
