/** Looking at files without leaving the room. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { SharedFile } from '../../web/src/room/room-phase.ts';
import { type Preview, previewOf } from '../../web/src/views/files/file-kind.ts';
import { launchFullBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { hasFocus, sharedTestSite, type TestSite } from '../support/page.ts';
import { dropFiles, picture, rowOf } from './support/files.ts';
import { recordFilm } from './support/film.ts';

const phoneScreen = { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true };

const viewer = (page: Page) => page.getByRole('dialog');
const position = (page: Page, text: string) => viewer(page).getByText(text, { exact: true }).waitFor();
const named = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true }).waitFor();
const closed = (page: Page) => viewer(page).waitFor({ state: 'detached' });
const fileLink = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

describe('the kind of a file', () => {
  it('[PAGE-40] is decided by its type and its name', () => {
    const kinds: [name: string, type: string, preview: Preview | undefined][] = [
      ['a.png', 'image/png', 'image'],
      ['a.svg', 'image/svg+xml', undefined],
      ['a.heic', 'image/heic', undefined],
      ['a.mov', 'video/quicktime', 'video'],
      ['a.mp3', 'audio/mpeg', 'audio'],
      ['a.mp4', 'application/octet-stream', undefined],
      ['a.ts', 'video/mp2t', 'text'],
      ['a.html', 'text/html', 'text'],
      ['Makefile', 'text/plain', 'text'],
      ['a.rs', 'application/octet-stream', 'text'],
      ['a.zip', 'application/zip', undefined],
      ['a.docx', 'application/octet-stream', undefined],
    ];
    const found = kinds.map(([fileName, contentType]) => previewOf({ fileName, contentType } as SharedFile));
    assert.deepEqual(
      found,
      kinds.map(([, , preview]) => preview),
    );
    const once = { fileName: 'a.png', contentType: 'image/png', once: true } as unknown as SharedFile;
    assert.equal(previewOf(once), undefined, 'a one-time file');
  });
});

describe('the page, the file viewer', () => {
  it('[PAGE-40] [PAGE-41] [PAGE-43] shows images, audio, video and text by keyboard, and returns the focus to the file', async (t) => {
    const site = await sharedTestSite(t);
    const code = await roomWith(site, [
      ['notes.html', 'text/html', '<b>not bold</b>'],
      ['film.webm', 'video/webm', 'not a film'],
      ['archive.zip', 'application/zip', 'zip'],
      ['sound.wav', 'audio/wav', silence],
      ['photo.png', 'image/png', picture],
      ['removed.txt', 'text/plain', 'removed'],
    ]);
    const { page } = await site.openDevice({ at: `/r/${code}`, permissions: ['clipboard-read', 'clipboard-write'] });
    // Its message takes the focus, but not again in the viewer.
    await page.getByRole('button', { name: 'Remove removed.txt' }).press('Enter');
    await page.getByRole('status').filter({ hasText: 'Removed removed.txt' }).waitFor();
    await fileLink(page, 'photo.png').press('Enter');
    await named(page, 'photo.png');
    await position(page, '1 of 4');
    await isDrawn(page, 'photo.png');
    await hasFocus(viewer(page));
    await viewer(page).getByText('kB · PNG').waitFor();
    await viewer(page).getByRole('button', { name: 'Copy image photo.png' }).click();
    await viewer(page).getByText('Copied.').waitFor();
    assert.deepEqual(await copiedImage(page), { width: 192, height: 192 });

    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowRight');
    await position(page, '2 of 4');
    assert.equal(await viewer(page).locator('[data-done]').count(), 0, 'this file was not copied');
    const audio = viewer(page).locator('audio[controls][preload=metadata]:not([autoplay])');
    await eventually('the length is known', () => audio.evaluate((player: HTMLAudioElement) => player.duration === 1));

    await page.keyboard.press('ArrowRight');
    await named(page, 'film.webm');
    await viewer(page).getByRole('alert').filter({ hasText: 'Download it to open it.' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      viewer(page).getByRole('link', { name: 'Download', exact: true }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'film.webm');

    await viewer(page).getByRole('button', { name: 'Next file' }).press('Enter');
    await viewer(page).locator('pre').getByText('<b>not bold</b>').waitFor();
    await viewer(page).getByRole('region', { name: 'Preview' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await named(page, 'film.webm');
    await page.keyboard.press('Escape');
    await closed(page);
    await hasFocus(fileLink(page, 'film.webm'));
  });

  it('[slow] [PAGE-40] plays a film in place, and stops it when it is closed', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: '/api/health' });
    const code = await roomWith(site, [['film.webm', 'video/webm', await recordFilm(page)]]);
    await page.goto(`/r/${code}`);
    await fileLink(page, 'film.webm').click();
    const video = viewer(page).locator('video[controls]:not([autoplay])');
    await eventually('a picture is shown', () => video.evaluate((film: HTMLVideoElement) => film.videoWidth === 64));
    const film = await video.elementHandle();
    await film?.evaluate((player) => (player as HTMLVideoElement).play());
    await eventually('it plays', () => film?.evaluate((player) => (player as HTMLVideoElement).currentTime > 0));
    await page.keyboard.press('Escape');
    await closed(page);
    await eventually('it is paused', () => film?.evaluate((player) => (player as HTMLVideoElement).paused));
  });

  it('[slow] [PAGE-41] closes with Back, which neither leaves the room nor asks to', async (t) => {
    const site = await sharedTestSite(t);
    const code = await roomWith(site, [['photo.png', 'image/png', picture]]);
    const { page } = await site.openDevice({ at: `/r/${code}` });
    await page.route('**/upload', () => undefined);
    await fileLink(page, 'photo.png').waitFor();
    await dropFiles(page, 'body', [{ name: 'unfinished.bin', content: 1_000 }]);
    await page.getByRole('progressbar').waitFor();
    const entries = () => page.evaluate(() => history.length);
    const before = await entries();
    // Twice, because closing with Escape must leave no entry behind.
    for (const close of ['goBack', 'Escape', 'goBack'] as const) {
      await fileLink(page, 'photo.png').click();
      await named(page, 'photo.png');
      await eventually('the entry is added', () => page.evaluate(() => history.state?.isViewer));
      await (close === 'goBack' ? page.goBack() : page.keyboard.press(close));
      await closed(page);
      await eventually('the entry is removed', async () => !(await page.evaluate(() => history.state?.isViewer)));
    }
    assert.equal(await entries(), before + 1, 'only Forward, which does nothing');
    assert.equal(new URL(page.url()).pathname, `/r/${code}`);
    await hasFocus(fileLink(page, 'photo.png'));
  });

  it('[slow] [PAGE-40] [PAGE-41] [PAGE-43] fills the screen of a phone, and files follow each other with a swipe', async (t) => {
    const site = await sharedTestSite(t);
    const code = await roomWith(site, [
      ['second.png', 'image/png', picture],
      ['first.png', 'image/png', picture],
    ]);
    const { page } = await site.openDevice({ at: `/r/${code}`, ...phoneScreen });
    await page.getByRole('button', { name: 'More actions for first.png' }).tap();
    await page.getByRole('button', { name: 'Copy image first.png' }).waitFor();
    await page.keyboard.press('Escape');

    const thumbnail = await rowOf(page, 'first.png').locator('.thumbnail').boundingBox();
    await page.touchscreen.tap((thumbnail?.x ?? 0) + 10, (thumbnail?.y ?? 0) + 10);
    await isDrawn(page, 'first.png');
    assert.deepEqual(await viewer(page).boundingBox(), { x: 0, y: 0, width: 375, height: 700 });
    await swipe(page, 300, 60);
    await named(page, 'second.png');
    await swipe(page, 300, 60);
    await position(page, '2 of 2');
    await swipe(page, 60, 300);
    await named(page, 'first.png');
    assert.ok(await page.evaluate(() => !/user-scalable|maximum-scale/.test(document.head.innerHTML)));
  });

  it('[slow] [PAGE-40] does not open for files that the browser cannot show, whose links lead to the file', async (t) => {
    const site = await sharedTestSite(t);
    const code = await roomWith(site, [
      ['archive.zip', 'application/zip', 'zip'],
      ['report.pdf', 'application/pdf', '%PDF-1.4'],
    ]);
    const { page, context } = await site.openDevice({ at: `/r/${code}` });
    for (const name of ['archive.zip', 'report.pdf']) {
      const [opened] = await Promise.all([context.waitForEvent('page'), fileLink(page, name).click()]);
      await opened.close();
    }
    assert.equal(await viewer(page).count(), 0);
  });

  it('[PAGE-42] [PAGE-44] stays at its file when others add files, moves on when they remove it, and shows the start of a long text', async (t) => {
    const site = await sharedTestSite(t);
    const code = await roomWith(site, [
      ['last.txt', 'text/plain', 'last'],
      ['photo.png', 'image/png', picture],
    ]);
    const { page } = await site.openDevice({ at: `/r/${code}` });
    await fileLink(page, 'photo.png').click();
    await position(page, '1 of 2');
    // Messages are shown for a few seconds only.
    const announced = (text: string, place: Page | Locator = viewer(page)) =>
      place.getByRole('status').filter({ hasText: text }).first().waitFor();
    const added = announced('added new.png');
    await site.server.api.upload(code, 'new.png', new Uint8Array(picture), {
      headers: { 'content-type': 'image/png' },
    });
    await position(page, '2 of 3');
    await named(page, 'photo.png');
    await added;

    await Promise.all([announced('photo.png was removed.'), removeFile(site, code, 'photo.png')]);
    await named(page, 'last.txt');
    await removeFile(site, code, 'last.txt');
    await named(page, 'new.png');
    await Promise.all([announced('new.png was removed.', page), removeFile(site, code, 'new.png')]);
    await closed(page);
    await t.test('[PAGE-42] the first 256 KiB, as text, and says that there is more', () =>
      assertStartOfText(site, page, code),
    );
  });

  it('[slow] [PAGE-40] [VIEW-8] plays a real video', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice({ at: '/api/health' });
    const code = await roomWith(site, [['film.webm', 'video/webm', await recordFilm(page)]]);
    await page.goto(`/r/${code}`);
    await fileLink(page, 'film.webm').click();
    const video = viewer(page).locator('video');
    await eventually('the film is loaded', () => video.evaluate((film: HTMLVideoElement) => film.videoWidth === 64));
    await video.evaluate(async (film: HTMLVideoElement) => {
      film.muted = true;
      await film.play();
    });
    await eventually('the film plays', () => video.evaluate((film: HTMLVideoElement) => film.currentTime > 0));
  });

  it('[slow] [PAGE-40] [VIEW-8] shows the page of a real PDF', async (t) => {
    const browser = await launchFullBrowser();
    if (!browser) return t.skip('only the shell of Chromium is installed, which has no viewer for PDF files');
    t.after(() => browser.close());
    const site = await sharedTestSite(t);
    const code = await roomWith(site, [['report.pdf', 'application/pdf', redPdf()]]);
    const page = await browser.newPage({ locale: 'en-GB' });
    const refused: string[] = [];
    page.on('console', (message) => {
      if (/Content Security Policy|sandbox|Trusted/i.test(message.text())) refused.push(message.text());
    });
    await page.goto(`${site.server.url}/r/${code}`);
    await fileLink(page, 'report.pdf').click();
    await viewer(page).getByRole('link', { name: 'Open in new tab' }).waitFor();
    const frame = viewer(page).locator('iframe.viewed-pdf');
    const decoder = await browser.newPage();
    await eventually('the red page is drawn', async () => (await redIn(decoder, await frame.screenshot())) > 0.2);
    assert.deepEqual(refused, []);
  });
});

async function assertStartOfText(site: TestSite, page: Page, code: string): Promise<void> {
  // The last character that fits is cut in two.
  const long = Buffer.concat([Buffer.from('x'.repeat(262_143)), Buffer.from('é and more')]);
  await upload(site, code, [
    ['empty.txt', 'text/plain', ''],
    ['latin1.txt', 'text/plain', Buffer.from('caf\xe9', 'latin1')],
    ['long.log', 'text/plain', long],
  ]);
  await page.route('**/files/**', (route) => route.abort(), { times: 1 });
  await fileLink(page, 'long.log').click();
  await viewer(page).getByRole('alert').waitFor();
  await viewer(page).getByRole('button', { name: 'Try again' }).click();
  await viewer(page).getByText('Showing the first 256 kB.').waitFor();
  const shown = viewer(page).locator('pre[dir=auto]');
  assert.equal(await shown.textContent(), 'x'.repeat(262_143));
  await page.keyboard.press('ArrowRight');
  await viewer(page).getByText('caf\ufffd', { exact: true }).waitFor();
  await page.keyboard.press('ArrowRight');
  await viewer(page).getByText('This file is empty.').waitFor();
}

/** How much of a picture is red, from 0 to 1. */
const redIn = (decoder: Page, png: Buffer): Promise<number> =>
  decoder.evaluate(
    async (source) => {
      const image = Object.assign(new Image(), { src: source });
      await image.decode();
      const { naturalWidth: width, naturalHeight: height } = image;
      const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
      context?.drawImage(image, 0, 0);
      const { data = [] } = context?.getImageData(0, 0, width, height) ?? {};
      let red = 0;
      for (let at = 0; at < data.length; at += 4)
        if (Number(data[at]) > 200 && Number(data[at + 1]) < 60 && Number(data[at + 2]) < 60) red++;
      return red / (width * height);
    },
    `data:image/png;base64,${png.toString('base64')}`,
  );

/** One red page, with the offsets that readers require. */
function redPdf(): Buffer {
  const stream = '1 0 0 rg 0 0 600 800 re f';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
  ];
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const start = pdf.length;
  pdf += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  return Buffer.from(`${pdf}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
}

type Upload = [name: string, type: string, content: string | Buffer];

async function roomWith(site: TestSite, files: readonly Upload[]): Promise<string> {
  const code = await site.server.api.room();
  await upload(site, code, files);
  return code;
}

/** The files are listed newest first: the last one is on top. */
async function upload({ server: { api } }: TestSite, code: string, files: readonly Upload[]): Promise<void> {
  for (const [name, type, content] of files) {
    const { status } = await api.upload(code, name, new Uint8Array(Buffer.from(content)), {
      headers: { 'content-type': type },
    });
    assert.equal(status, 201);
  }
}

async function removeFile({ server: { api } }: TestSite, code: string, name: string): Promise<void> {
  const { files } = (await api.get(`/api/rooms/${code}/files`)).json as { files: SharedFile[] };
  const file = files.find(({ fileName }) => fileName === name);
  assert.equal((await api.delete(`/api/rooms/${code}/files/${file?.fileId}`)).status, 200);
}

async function isDrawn(page: Page, name: string): Promise<void> {
  const image = viewer(page).getByRole('img', { name });
  await image.waitFor();
  await eventually('it is drawn', () =>
    image.evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0),
  );
}

const copiedImage = (page: Page) =>
  page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    const { width, height } = await createImageBitmap((await item?.getType('image/png')) as Blob);
    return { width, height };
  });

/** With one finger, from one place to another on the middle line of the screen. */
async function swipe(page: Page, from: number, to: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: x === undefined ? [] : [{ x, y: 350 }] });
  await touch('touchStart', from);
  await touch('touchMove', (from + to) / 2);
  await touch('touchMove', to);
  await touch('touchEnd');
  await session.detach();
}

/** One second of silence: 8,000 samples of one byte. */
const silence = (() => {
  const [samples, header] = [Buffer.alloc(8_000, 128), Buffer.alloc(44)];
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
})();
