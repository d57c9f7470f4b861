/** The page in two real browser windows: the time from a key to the other window, and the cost of a key in a long text. */
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/browser.ts';
import { quantile, withAllCores } from '../processes.ts';
import { createRoom, type Server, startPoproom, writeText } from '../servers.ts';
import { boundedRow, type Row } from '../table.ts';
import { naturalText } from '../typist.ts';

const keys = 200;
const pauseMs = 250;
const longText = 1020 * 1024;
const probes = fileURLToPath(new URL('../page-probes.js', import.meta.url));

export async function measurePage(): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  const browser = await withAllCores(() => launchBrowser());
  try {
    return [await toOtherPage(poproom, browser), await longTyping(poproom, browser)];
  } finally {
    await browser.close();
    await poproom.stop();
  }
}

async function openRoom(browser: Browser, { url }: Server, room: string): Promise<Page> {
  const page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
  await page.addInitScript({ path: probes });
  await page.goto(`${url}/r/${room}`);
  await page.locator('textarea').waitFor();
  return page;
}

async function roomWith(server: Server, text: string): Promise<string> {
  const room = await createRoom(server);
  await writeText(`${server.url}/api/rooms/${room}/content`, text);
  return room;
}

/** From the keydown event to the first frame of the other page that shows the letter. */
async function toOtherPage(server: Server, browser: Browser): Promise<Row> {
  const room = await roomWith(server, naturalText(1000));
  const [typing, reading] = [await openRoom(browser, server, room), await openRoom(browser, server, room)];
  await typing.evaluate('probes.recordKeys()');
  await reading.evaluate('probes.recordLengths()');
  await typing.locator('textarea').click();
  await press(typing);
  await reading.waitForFunction(`probes.recorded.length >= ${keys}`);
  const [sent, shown] = await Promise.all([typing, reading].map((page) => page.evaluate<number[]>('probes.recorded')));
  const times = (sent ?? []).map((at, n) => (shown?.[n] ?? Number.NaN) - at);
  await Promise.all([typing.close(), reading.close()]);
  const row = boundedRow('from a key to the other page, p50', quantile(times, 0.5), 60, ms);
  return { ...row, poproom: `${row.poproom}, p99 ${ms(quantile(times, 0.99))}` };
}

async function press(page: Page): Promise<void> {
  for (let n = 0; n < keys; n++) {
    await page.keyboard.press('e');
    await page.waitForTimeout(pauseMs);
  }
}

const hasLength = (page: Page, least: number) =>
  page.waitForFunction(`document.querySelector('textarea').value.length >= ${least}`);

interface KeyTimes {
  listeners: number;
  /** To the next frame. */
  frame: number;
}

/** Compared with a bare text field, because the browser itself needs most of the time to the next frame. */
async function longTyping(server: Server, browser: Browser): Promise<Row> {
  const page = await openRoom(browser, server, await roomWith(server, naturalText(longText)));
  const [own, bare] = [await timesOf(page), await timesOf(await openField(browser))];
  const frame = (times: KeyTimes[]) =>
    `to the next frame p50 ${ms(
      quantile(
        times.map((key) => key.frame),
        0.5,
      ),
    )}`;
  const [p50, p99] = [0.5, 0.99].map((at) =>
    quantile(
      own.map(({ listeners }) => listeners),
      at,
    ),
  ) as [number, number];
  const row = boundedRow('a key in a text of 1 MiB in the page, event handling, p99', p99, 50, ms);
  return {
    ...row,
    baseline: `bare textarea: ${frame(bare)}`,
    poproom: `${row.poproom}, p50 ${ms(p50)}; ${frame(own)}`,
  };
}

async function openField(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  await page.addInitScript({ path: probes });
  await page.goto('about:blank');
  await page.setContent('<textarea style="width: 700px; height: 500px"></textarea>');
  await page.evaluate(`document.querySelector('textarea').value = ${JSON.stringify(naturalText(longText))}`);
  return page;
}

async function timesOf(page: Page): Promise<KeyTimes[]> {
  await hasLength(page, longText);
  await page.locator('textarea').focus();
  await page.evaluate(`document.querySelector('textarea').setSelectionRange(${longText / 2}, ${longText / 2})`);
  await page.evaluate('probes.recordHandling()');
  await press(page);
  await hasLength(page, longText + keys);
  const times = await page.evaluate<KeyTimes[]>('probes.recorded');
  await page.close();
  return times;
}

const ms = (value: number) => `${value.toFixed(0)} ms`;
