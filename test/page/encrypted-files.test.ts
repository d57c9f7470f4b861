/** Files of encrypted rooms in the page. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Download, Page } from 'playwright-core';
import { createClient, type FileEntry, type Room } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { startKeystreamAttack } from '../support/keystream-attack.ts';
import { copyOf, startMaliciousServer, tamperFileLists } from '../support/malicious-server.ts';
import { joinRoom, sharedTestSite, startTestSite, type TestSite } from '../support/page.ts';
import { readBlob, storedBlobs } from '../support/stored-blobs.ts';
import { unzip } from '../support/unzip.ts';
import { type LocalFile, pickFiles, picture, rowOf } from './support/files.ts';
import { recordFilm } from './support/film.ts';

const mebibyte = 1024 * 1024;
/** Sent in several parts. */
const largeBytes = 6 * mebibyte;
/** Different in each chunk, and found as a text in what is sent. */
const large = Buffer.from('The quick secret. '.repeat(Math.ceil(largeBytes / 18))).subarray(0, largeBytes);
/** With its padding it has 6,424,104 bytes, and the next larger one has more than the limit of 6,500,000. */
const largestFile = 49 * 2 ** 17;
const strangeName = 'Gehälter "2026" <b>&\u{1f600}.txt';
const secretText = 'The salary is 1234567.';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const nameButton = (page: Page, name: string) => page.locator('.file-name').getByText(name, { exact: true });
const arrived = (page: Page, name: string) => button(page, `Download ${name}`).waitFor();
const alert = (page: Page, name: string) => rowOf(page, name).getByRole('alert');
const viewer = (page: Page) => page.getByRole('dialog');
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const createRoom = ({ server }: TestSite) =>
  createClient({ url: server.url, deviceId: 'script', deviceName: 'Script' }).createRoom({ encrypted: true });
const pathOf = ({ code, link }: Room) => `${code}#${link.split('#')[1] ?? assert.fail(link)}`;

async function bytesOf(download: Download): Promise<Buffer> {
  return readFile(await download.path());
}

async function downloaded(page: Page, start: () => Promise<void>): Promise<Download> {
  const [download] = await Promise.all([page.waitForEvent('download'), start()]);
  return download;
}

/** The last one is on top of the list. */
async function addFiles(room: Room, files: readonly LocalFile[]): Promise<void> {
  for (const { name, type, content } of files)
    await room.upload(new Blob([Buffer.from(content as string)]), { name, type });
}

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
      await pause(300);
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
  it('[SEALED-80] [SEALED-81] [SEALED-87] are sealed before they leave the device, and others show and save them', async (t) => {
    const site = await startTestSite(t, { POPROOM_FILE_MAX: '6500000' });
    const room = await createRoom(site);
    const proxy = await startMaliciousServer(t, () => site.server.port);
    const sender = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
    const { page } = await joinRoom(site, pathOf(room));
    await sender.page.getByRole('button', { name: 'Add files' }).waitFor();
    await pickFiles(sender.page, [
      { name: strangeName, content: secretText },
      { name: 'photo.png', type: 'image/png', content: picture },
      { name: 'large.bin', content: large },
      { name: 'too-large.bin', content: largestFile + 1 },
    ]);
    await alert(sender.page, 'too-large.bin').waitFor();
    for (const name of [strangeName, 'photo.png', 'large.bin']) await arrived(page, name);
    await page.getByRole('status').filter({ hasText: 'added 3 files' }).waitFor();
    const thumbnail = rowOf(page, 'photo.png').locator('img');
    await eventually('the thumbnail is shown', () =>
      thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth > 0),
    );

    const saved = await downloaded(page, () => button(page, 'Download large.bin').click());
    assert.equal(saved.suggestedFilename(), 'large.bin');
    assert.equal(hash(await bytesOf(saved)), hash(large));
    assert.ok(page.workers().some((worker) => worker.url().includes('chunk-worker')));
    const text = await downloaded(page, () => button(page, `Download ${strangeName}`).click());
    assert.equal(String(await bytesOf(text)), secretText);

    const key = room.key?.replaceAll('-', '') ?? '';
    const wire = proxy.sent.join('\n');
    const names = [strangeName, 'large.bin', 'photo.png', 'Gehälter'].flatMap((name) => [
      name,
      Buffer.from(name).toString('latin1'),
      encodeURIComponent(name),
      Buffer.from(name).toString('base64').replace(/=+$/, ''),
    ]);
    for (const secret of [...names, secretText, 'quick secret', picture.toString('latin1', 8, 40), key, room.key ?? ''])
      assert.ok(!wire.includes(secret), `${secret} was sent`);
    assert.ok(wire.includes('POPENC1\n'));
    for (const path of await storedBlobs(site.server)) {
      const stored = await readBlob(site.server, path);
      assert.ok(!stored.includes('secret') && !stored.includes(secretText), path);
    }
  });

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

  it('[SEALED-82] [SEALED-88] are shown in the viewer, and only saved if they could run as a document', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    const { page } = await site.openDevice({ at: '/api/health' });
    const film = await recordFilm(page);
    await addFiles(room, [
      { name: 'drawing.svg', type: 'image/svg+xml', content: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
      { name: 'paper.pdf', type: 'application/pdf', content: '%PDF-1.4' },
      { name: 'fake.mp4', type: 'video/x+xml', content: '<html xmlns="http://www.w3.org/1999/xhtml"/>' },
      { name: 'page.html', type: 'text/html', content: '<script>document.title = "run"</script>' },
      { name: 'film.webm', type: 'video/webm', content: film },
      { name: 'photo.png', type: 'image/png', content: picture },
      { name: 'a\u202egpj.exe', type: 'text/plain', content: 'x' },
    ]);
    await page.goto(`/r/${pathOf(room)}`);
    // Without the character that reverses the name.
    await arrived(page, 'agpj.exe');
    await nameButton(page, 'photo.png').click();
    const image = viewer(page).locator('img');
    await eventually('the image is shown', () =>
      image.evaluate((shown: HTMLImageElement) => shown.naturalWidth === 192),
    );
    assert.match((await image.getAttribute('src')) ?? '', /^blob:/);
    assert.equal(
      await viewer(page)
        .getByRole('button', { name: /Copy link/ })
        .count(),
      0,
    );
    await page.keyboard.press('ArrowRight');
    const video = viewer(page).locator('video');
    await eventually('the film is shown', () => video.evaluate((shown: HTMLVideoElement) => shown.videoWidth === 64));
    await page.keyboard.press('ArrowRight');
    await viewer(page).locator('pre').getByText('<script>document.title = "run"</script>', { exact: true }).waitFor();
    await page.keyboard.press('ArrowRight');
    await viewer(page).getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    for (const name of ['drawing.svg', 'paper.pdf']) {
      const saved = await downloaded(page, () => nameButton(page, name).click());
      assert.equal(saved.suggestedFilename(), name);
      assert.match(saved.url(), /^blob:/);
    }
    assert.equal(await page.title().then((title) => title.includes('run')), false);
  });

  it('[SEALED-83] [SEALED-84] that are damaged are reported and not saved, and one-time files stay in the room', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    await addFiles(room, [
      { name: 'good.txt', type: 'text/plain', content: 'good' },
      { name: 'photo.png', type: 'image/png', content: picture },
    ]);
    await room.upload(new Blob(['once']), { name: 'once.txt', once: true });
    const proxy = await startMaliciousServer(t, () => site.server.port);
    const photoUrl = (await room.files()).find(({ fileName }) => fileName === 'photo.png')?.fileUrl ?? '';
    const photoPath = new URL(photoUrl).pathname;
    let isTampering = true;
    proxy.tamper = (path, body) => {
      if (!isTampering || !(path.startsWith(photoPath) || path.includes('claim='))) return body;
      return Buffer.concat([body.subarray(0, -1), Buffer.from([(body.at(-1) ?? 0) ^ 1])]);
    };
    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
    const started: string[] = [];
    page.on('download', (download) => started.push(download.suggestedFilename()));
    await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    await arrived(page, 'photo.png');
    await button(page, 'Download photo.png').click();
    await alert(page, 'photo.png')
      .getByText('This file is damaged and can’t be decrypted. Nothing was saved.')
      .waitFor();
    await button(page, 'Cancel download of photo.png').click();
    await nameButton(page, 'photo.png').click();
    await viewer(page).getByRole('alert').getByText('This file is damaged').waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Download all').click();
    await alert(page, `poproom-${room.code}.zip`).getByText('photo.png is damaged').waitFor();
    await button(page, 'Receive once.txt').click();
    await button(page, 'Receive').click();
    await viewer(page)
      .getByText('This file is damaged and can’t be decrypted. The file is still in the room.')
      .waitFor();
    assert.equal((await room.files()).length, 3);
    assert.deepEqual(started, []);

    isTampering = false;
    const received = await downloaded(page, () => button(page, 'Try again').click());
    assert.equal(String(await bytesOf(received)), 'once');
    await eventually('it is erased', async () => (await room.files()).length === 2);
  });

  it('[SEALED-85] are saved as an archive that the page makes, removed with Undo, and selected', async (t) => {
    const site = await sharedTestSite(t);
    const room = await createRoom(site);
    await room.upload(new Blob(['1']), { name: 'a.txt', folder: 'photos/2026' });
    await room.upload(new Blob(['2']), { name: 'a.txt', folder: 'photos/2026' });
    await room.upload(new Blob(['3']), { name: 'CON.txt' });
    await room.upload(new Blob([]), { name: strangeName });
    const { page } = await joinRoom(site, pathOf(room));
    await arrived(page, 'CON.txt');
    const all = await downloaded(page, () => button(page, 'Download all').click());
    assert.equal(all.suggestedFilename(), `poproom-${room.code}.zip`);
    const files = await unzip(t, await bytesOf(all));
    const byPath = Object.fromEntries(files.map(({ path, bytes }) => [path, String(bytes)]));
    assert.deepEqual(Object.keys(byPath).sort(), [
      'Gehälter _2026_ _b_&\u{1f600}.txt',
      '_CON.txt',
      'photos/2026/a (2).txt',
      'photos/2026/a.txt',
    ]);
    assert.equal(byPath['_CON.txt'], '3');

    await button(page, 'Remove CON.txt').click();
    await rowOf(page, 'CON.txt').waitFor({ state: 'detached' });
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click();
    await arrived(page, 'CON.txt');
    await button(page, 'Select').click();
    await page.getByRole('checkbox', { name: 'CON.txt', exact: true }).check();
    const one = await downloaded(page, () => button(page, 'Download').click());
    assert.equal(one.suggestedFilename(), 'CON.txt');
    assert.equal(String(await bytesOf(one)), '3');
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
    await page.getByRole('button', { name: 'Add files' }).waitFor();
    const input = page.locator('input[type="file"]').first();
    attack.interrupt();
    await input.setInputFiles(path);
    await eventually('the connection is lost', () => attack.sent.length >= 2);
    await writeFile(path, after);
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
  await page
    .locator('input[type="file"]')
    .first()
    .evaluate(
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
