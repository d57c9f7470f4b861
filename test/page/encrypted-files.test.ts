/** Files of encrypted rooms in the page. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startMaliciousServer } from '../support/malicious-server.ts';
import { joinRoom, sharedTestSite, startTestSite } from '../support/page.ts';
import { readBlob, storedBlobs } from '../support/stored-blobs.ts';
import { unzip } from '../support/unzip.ts';
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
  nameButton,
  pathOf,
  viewer,
} from './support/encrypted-files.ts';
import { pickFiles, picture, rowOf } from './support/files.ts';
import { recordFilm } from './support/film.ts';
import { holdTimers } from './support/page-time.ts';

const strangeName = 'Gehälter "2026" <b>&\u{1f600}.txt';
const messageMs = 5_000;
const secretText = 'The salary is 1234567.';

describe('the page, files of an encrypted room', () => {
  it('[SEALED-80] [SEALED-81] [SEALED-87] are sealed before they leave the device, and others show and save them', (t) =>
    assertSealed(t, 2 ** 14));

  it('[slow] [SEALED-80] [SEALED-81] [SEALED-87] are sealed if they are sent in several parts, too', (t) =>
    assertSealed(t, 2 ** 17));

  it('[slow] [SEALED-82] [SEALED-88] are shown in the viewer, and only saved if they could run as a document', async (t) => {
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
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowRight');
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

  it('[slow] [SEALED-83] [SEALED-84] that are damaged are reported and not saved, and one-time files stay in the room', async (t) => {
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

  it('[slow] [SEALED-85] are saved as an archive that the page makes, removed with Undo, and selected', async (t) => {
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
    const files = unzip(await bytesOf(all));
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
});

/**
 * The padding of files is a multiple of the unit. With it, a file of 49 units has less than the limit of 49.6 units, and
 * the next larger one has more.
 */
async function assertSealed(t: TestContext, unit: number): Promise<void> {
  const bytes = large.subarray(0, 48 * unit);
  const site = await startTestSite(t, { POPROOM_FILE_MAX: String(Math.floor(49.6 * unit)) });
  const room = await createRoom(site);
  const proxy = await startMaliciousServer(t, () => site.server.port);
  const sender = await site.openDevice({ baseURL: proxy.url, at: `/r/${pathOf(room)}` });
  const { page } = await joinRoom(site, pathOf(room));
  // Files that arrive while the message is shown share it.
  await holdTimers(page, messageMs);
  await sender.page.getByRole('button', { name: 'Add files' }).waitFor();
  await pickFiles(sender.page, [
    { name: strangeName, content: secretText },
    { name: 'photo.png', type: 'image/png', content: picture },
    { name: 'large.bin', content: bytes },
    { name: 'too-large.bin', content: 49 * unit + 1 },
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
  assert.equal(hash(await bytesOf(saved)), hash(bytes));
  assert.ok(page.workers().some((worker) => worker.url().includes('crypto-worker')));
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
}
