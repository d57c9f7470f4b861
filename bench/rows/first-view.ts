/** How soon the first page and a room are shown on a slow phone with a slow connection, and whether they stay in place. */
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/browser.ts';
import { median, withAllCores } from '../processes.ts';
import { createRoom, startPoproom } from '../servers.ts';
import { boundedRow, type Row } from '../table.ts';

const runs = 9;
const probes = fileURLToPath(new URL('../page-probes.js', import.meta.url));
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const desktop = { viewport: { width: 1280, height: 800 } };

/** "Slow 4G" of Lighthouse: 1.6 Mbit/s down, 750 kbit/s up, 150 ms. The browser adds the latency to every request. */
const slow4G = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
};
const cpuSlowdown = 4;
/** Later paints and shifts count too. */
const settleMs = 1_500;

interface FirstView {
  largestPaint: number;
  /** 0 on the first page, which has no text. */
  editable: number;
  shift: number;
}

export async function measureFirstView(): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  const browser = await withAllCores(() => launchBrowser());
  try {
    const room = `${poproom.url}/r/${await createRoom(poproom)}`;
    return [
      ...(await rowsOf('first page', browser, `${poproom.url}/`, 1_500)),
      ...(await rowsOf('room', browser, room, 1_800)),
    ];
  } finally {
    await browser.close();
    await poproom.stop();
  }
}

async function rowsOf(name: string, browser: Browser, url: string, maxMs: number): Promise<Row[]> {
  const views: FirstView[] = [];
  for (let run = 0; run < runs; run++) views.push(await firstView(browser, url));
  const onDesktop = await firstView(browser, url, desktop);
  const largest = views.map(({ largestPaint }) => largestPaint);
  const editable = median(views.map((view) => view.editable));
  const row = boundedRow(
    `${name}, largest paint on slow 4G with 4 × CPU, median of ${runs}`,
    median(largest),
    maxMs,
    ms,
  );
  const range = `${ms(Math.min(...largest))} to ${ms(Math.max(...largest))}`;
  const details = [
    row.poproom,
    range,
    editable > 0 && `text editable ${ms(editable)}`,
    `load ${loadavg()[0]?.toFixed(1)}`,
  ];
  const shifts = [...views, onDesktop].map(({ shift }) => shift);
  return [
    { ...row, poproom: details.filter(Boolean).join('; ') },
    boundedRow(`${name}, layout shift, highest of ${shifts.length}`, Math.max(...shifts), 0, (shift) =>
      shift.toFixed(3),
    ),
  ];
}

/** With an empty cache. */
async function firstView(
  browser: Browser,
  url: string,
  device: typeof phone | typeof desktop = phone,
): Promise<FirstView> {
  const context = await browser.newContext(device);
  const page = await context.newPage();
  await slowDown(page);
  await page.addInitScript({ path: probes });
  await page.goto(url);
  await page.locator('textarea, form').first().waitFor();
  await page.waitForTimeout(settleMs);
  const view = await page.evaluate<FirstView>('probes.firstView');
  await context.close();
  return view;
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', slow4G);
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
}

const ms = (value: number) => `${value.toFixed(0)} ms`;
