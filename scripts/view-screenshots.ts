/**
 * Makes pictures of all views, at five widths, in light, dark and Arabic, to look at: `npm run screenshots:views`. They
 * are in dist/views, or in the folder that is named; sheets put the pictures of a view side by side.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { readConfig } from '../src/config.ts';
import { startServer } from '../src/server.ts';
import { launchBrowser } from '../test/support/browser.ts';
import { createViews, switchLanguage, type View } from './screenshot-views.ts';

const folder = resolve(process.argv[2] ?? 'dist/views');
const only = process.argv[3];

interface Screen {
  readonly name: string;
  readonly sizes: readonly { readonly width: number; readonly height: number }[];
  readonly hasTouch: boolean;
  /** Of the pictures in a sheet. */
  readonly scale: number;
}

const screens: readonly Screen[] = [
  {
    name: 'phones',
    sizes: [
      { width: 320, height: 568 },
      { width: 390, height: 844 },
    ],
    hasTouch: true,
    scale: 0.8,
  },
  {
    name: 'computers',
    sizes: [
      { width: 820, height: 1180 },
      { width: 1280, height: 800 },
      { width: 1920, height: 1080 },
    ],
    hasTouch: false,
    scale: 0.45,
  },
];

const looks = [
  { name: 'light', colorScheme: 'light', language: 'en' },
  { name: 'dark', colorScheme: 'dark', language: 'en' },
  { name: 'arabic', colorScheme: 'light', language: 'ar' },
] as const;

const data = await mkdtemp(join(tmpdir(), 'poproom-'));
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const settings = {
  PORT: '0',
  POPROOM_HOST: '127.0.0.1',
  POPROOM_DATA_DIR: data,
  POPROOM_MIN_FREE_DISK: '0',
  POPROOM_FREE_LIMIT: '100000',
  POPROOM_MAX_CHANNELS_PER_CLIENT: '1000',
};
const server = await startServer(readConfig(settings), log);
const browser = await launchBrowser();
try {
  const views = await createViews(`http://127.0.0.1:${server.port}`);
  for (const view of views.filter(({ name }) => only === undefined || name.includes(only)))
    for (const screen of screens) await picture(browser, view, screen);
} finally {
  await browser.close();
  await server.stop();
  await rm(data, { recursive: true, force: true });
}

/** Opens the view once, and then changes size, theme and language. */
async function picture(browser: Browser, view: View, { name, sizes, hasTouch, scale }: Screen): Promise<void> {
  const context = await browser.newContext({ viewport: sizes[0] ?? null, hasTouch, reducedMotion: 'reduce' });
  const rows: Buffer[][] = [];
  try {
    const page = await context.newPage();
    await view.open(page);
    for (const look of looks) {
      await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: 'reduce' });
      await switchLanguage(page, look.language);
      const row: Buffer[] = [];
      for (const size of sizes) {
        await page.setViewportSize(size);
        // A dialog covers only what is visible, and the documentation is longer than any picture.
        const fullPage = view.name !== 'docs' && (await page.locator('dialog[open]').count()) === 0;
        const shot = await page.screenshot({ fullPage });
        await save(`${view.name}/${size.width}-${look.name}.png`, shot);
        row.push(shot);
      }
      rows.push(row);
    }
    await save(`sheets/${view.name}-${name}.png`, await sheet(browser, rows, scale));
  } catch (error) {
    console.error(`${view.name} on ${name}: ${error}`);
  } finally {
    await closeQuietly(context);
  }
}

async function save(name: string, picture: Buffer): Promise<void> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, picture);
}

/** One row for each look. */
async function sheet(browser: Browser, rows: readonly Buffer[][], scale: number): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 100, height: 100 } });
  const image = (picture: Buffer) =>
    `<img style="zoom:${scale};margin:8px;vertical-align:top;border:1px solid #888" src="data:image/png;base64,${picture.toString('base64')}">`;
  const lines = rows.map((row) => `<div>${row.map(image).join('')}</div>`);
  await page.setContent(
    `<body style="margin:0;width:max-content;background:#777;white-space:nowrap">${lines.join('')}`,
  );
  const picture = await page.locator('body').screenshot();
  await page.close();
  return picture;
}

async function closeQuietly(context: BrowserContext): Promise<void> {
  await context.close().catch(() => undefined);
}
