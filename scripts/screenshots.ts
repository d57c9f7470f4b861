/** Makes the pictures of the README: a real server, a laptop and a phone in one room. Run by hand, when the page changes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { readConfig } from '../src/config.ts';
import { startServer } from '../src/server.ts';
import { launchBrowser } from '../test/support/browser.ts';

const host = 'pop.example.org';
const folder = new URL('../docs/images/', import.meta.url);
const android =
  'Mozilla/5.0 (Linux; Android 16; Pixel 10) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36';
const text = `Gate code for Saturday: 4471#
Slides: https://example.org/talks/one-room

Bring the long HDMI cable.`;

const data = await mkdtemp(join(tmpdir(), 'poproom-'));
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const settings = { PORT: '0', POPROOM_HOST: '127.0.0.1', POPROOM_DATA_DIR: data, POPROOM_MIN_FREE_DISK: '0' };
const server = await startServer(readConfig(settings), log);
const browser = await launchBrowser([`--host-resolver-rules=MAP ${host}:80 127.0.0.1:${server.port}`]);
try {
  await mkdir(folder, { recursive: true });
  for (const scheme of ['light', 'dark'] as const) {
    await writeFile(new URL(`room-${scheme}.png`, folder), await pictureOf(browser, scheme));
  }
} finally {
  await browser.close();
  await server.stop();
  await rm(data, { recursive: true, force: true });
}

async function pictureOf(browser: Browser, colorScheme: 'light' | 'dark'): Promise<Buffer> {
  const desktop = await browser.newContext({
    colorScheme,
    viewport: { width: 1180, height: 872 },
    deviceScaleFactor: 2,
  });
  const mobile = await browser.newContext({
    colorScheme,
    viewport: { width: 375, height: 780 },
    deviceScaleFactor: 2,
    userAgent: android,
  });
  const [laptop, phone] = [await desktop.newPage(), await mobile.newPage()];
  await laptop.goto(`http://${host}/`);
  await laptop.getByRole('button', { name: 'Start a room' }).click();
  await laptop.locator('textarea').waitFor();
  await phone.goto(laptop.url());
  await phone.locator('textarea').fill(text);
  await phone.getByRole('button', { name: 'Add files' }).click();
  await phone.getByRole('menu').waitFor();
  await phone.keyboard.press('Escape');
  await phone.locator('input[type=file]').setInputFiles([
    { name: 'whiteboard.png', mimeType: 'image/png', buffer: await drawing(browser) },
    { name: 'schedule.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(482_133, 1) },
  ]);
  await laptop.getByText('schedule.pdf').waitFor();
  await laptop.getByRole('navigation').waitFor();
  await laptop.mouse.move(0, 0);
  await settled(laptop, phone);
  const shots = [await laptop.screenshot(), await phone.screenshot()] as const;
  await Promise.all([desktop.close(), mobile.close()]);
  return sideBySide(browser, ...shots);
}

/** Greetings gone, animations over, the picture drawn. */
async function settled(...pages: Page[]): Promise<void> {
  for (const page of pages) {
    await page.locator('.notice').first().waitFor({ state: 'detached' });
    await page.locator('img').first().waitFor();
    await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished))');
  }
}

/** Something that has been drawn on a whiteboard. */
async function drawing(browser: Browser): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 320, height: 320 } });
  await page.setContent(`<body style="margin:0"><svg viewBox="0 0 100 100" width="320" fill="none" stroke-width="4">
    <rect width="100" height="100" fill="#eef3f1"/><path stroke="#2c6e49" d="M12 80 34 52 52 66 86 22"/>
    <path stroke="#c43d0a" d="M12 90h76M12 90V14"/><circle cx="86" cy="22" r="6" fill="#c43d0a"/></svg>`);
  const picture = await page.screenshot();
  await page.close();
  return picture;
}

async function sideBySide(browser: Browser, laptop: Buffer, phone: Buffer): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1240, height: 716 }, deviceScaleFactor: 1 });
  const source = (picture: Buffer) => `data:image/png;base64,${picture.toString('base64')}`;
  await page.setContent(`<style>
    body { margin: 0; position: relative; height: 716px }
    img { position: absolute; border: 1px solid #8f847480; box-shadow: 0 12px 40px #0003 }
    .laptop { left: 10px; top: 10px; width: 930px; border-radius: 14px }
    .phone { right: 14px; bottom: 16px; width: 290px; border-radius: 30px; border: 6px solid #1f1b16 }
  </style><img class="laptop" src="${source(laptop)}"><img class="phone" src="${source(phone)}">`);
  const picture = await page.screenshot({ omitBackground: true });
  await page.close();
  return picture;
}
