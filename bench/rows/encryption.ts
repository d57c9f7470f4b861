/** Encrypted rooms: typing and joining in the page, compared with ordinary rooms, and sealing of files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { createFileCipher } from '../../src/client/crypto/file-cipher.ts';
import { createSalt, deriveKeys } from '../../src/client/crypto/keys.ts';
import { createFileSalt } from '../../src/client/crypto/metadata.ts';
import { generateRoomKey } from '../../src/client/crypto/room-key.ts';
import { createClient } from '../../src/client/index.ts';
import { batchIntervalMs } from '../../src/client/text/delivery.ts';
import { launchBrowser } from '../../test/support/browser.ts';
import { quantile, withAllCores } from '../processes.ts';
import { type Server, startPoproom } from '../servers.ts';
import { atMost, boundedRow, type Row } from '../table.ts';
import { naturalText } from '../typist.ts';

const keys = 100;
const pauseMs = 150;
const joins = 5;
const text = naturalText(1000);
/** With its padding it is within the limit of 10 MiB. */
const largestFile = 9.5 * 1024 * 1024;
/** As the developer tools of Chromium define a slow 4G network. It does not slow down workers. */
const slow4g = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 };
const slowCpu = { rate: 4 };
const probes = fileURLToPath(new URL('../page-probes.js', import.meta.url));

export async function measureEncryption(): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  const browser = await withAllCores(() => launchBrowser());
  try {
    return [
      await compareTyping(poproom, browser),
      await compareJoining(poproom, browser),
      await measureSealing(),
      await measureResponsiveness(poproom, browser),
    ];
  } finally {
    await browser.close();
    await poproom.stop();
  }
}

/** The links of an ordinary and an encrypted room with the same text. */
async function createRooms({ url }: Server): Promise<[plain: string, encrypted: string]> {
  const client = createClient({ url });
  const rooms = [await client.createRoom(), await client.createRoom({ encrypted: true })] as const;
  for (const room of rooms) await room.write(text);
  return [rooms[0].link, rooms[1].link];
}

async function compareTyping(server: Server, browser: Browser): Promise<Row> {
  const [plain, encrypted] = await createRooms(server);
  const [bare, sealed] = [await timeToOtherPage(browser, plain), await timeToOtherPage(browser, encrypted)];
  const show = (times: number[]) => `p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))}`;
  return {
    work: 'from a key to the other page, in an encrypted room',
    baseline: `ordinary room: ${show(bare)}`,
    poproom: show(sealed),
    ...atMost(quantile(sealed, 0.5) / (1.1 * quantile(bare, 0.5) + batchIntervalMs.withOthers), 1),
  };
}

async function timeToOtherPage(browser: Browser, link: string): Promise<number[]> {
  const [typing, reading] = [await open(browser, link), await open(browser, link)];
  await typing.evaluate('probes.recordKeys()');
  await reading.evaluate('probes.recordLengths()');
  await typing.locator('textarea').click();
  for (let n = 0; n < keys; n++) {
    await typing.keyboard.press('e');
    await typing.waitForTimeout(pauseMs);
  }
  await reading.waitForFunction(`probes.recorded.length >= ${keys}`);
  const [sent, shown] = await Promise.all([typing, reading].map((page) => page.evaluate<number[]>('probes.recorded')));
  await Promise.all([typing, reading].map((page) => page.context().close()));
  return (sent ?? []).map((at, n) => (shown?.[n] ?? Number.NaN) - at);
}

async function open(browser: Browser, link: string): Promise<Page> {
  const page = await newPage(browser);
  await page.goto(link);
  await showsText(page);
  return page;
}

/** The policy of the page forbids `waitForFunction`. */
async function newPage(browser: Browser): Promise<Page> {
  const page = await (await browser.newContext({ reducedMotion: 'reduce', bypassCSP: true })).newPage();
  await page.addInitScript({ path: probes });
  return page;
}

const showsText = (page: Page) =>
  page.waitForFunction(`document.querySelector('textarea')?.value === ${JSON.stringify(text)}`);

/** The best of a few, because the rest of the machine must not count. */
async function compareJoining(server: Server, browser: Browser): Promise<Row> {
  const [plain, encrypted] = await createRooms(server);
  const best = async (link: string) => {
    const times: number[] = [];
    for (let n = 0; n < joins; n++) times.push(await timeToJoin(browser, link));
    return Math.min(...times);
  };
  const row = boundedRow('joins an encrypted room on slow 4G with a 4 × slower CPU', await best(encrypted), 1000, ms);
  return { ...row, baseline: `ordinary room: ${ms(await best(plain))}` };
}

/** From the link that is pasted into the home page, with the code of the page in its cache, to the text. */
async function timeToJoin(browser: Browser, link: string): Promise<number> {
  const page = await newPage(browser);
  await page.goto(new URL(link).origin);
  await page.evaluate('probes.isCached()');
  await page.reload();
  await page.waitForLoadState('networkidle');
  const session = await page.context().newCDPSession(page);
  await session.send('Network.emulateNetworkConditions', slow4g);
  await session.send('Emulation.setCPUThrottlingRate', slowCpu);
  const startedAt = Date.now();
  await page.evaluate(`probes.paste(${JSON.stringify(link)})`);
  await showsText(page);
  const time = Date.now() - startedAt;
  await page.context().close();
  return time;
}

const file = Buffer.alloc(10 * 1024 * 1024, 'The film. ');

/** The CPU time of the SDK in Node for 10 MiB. */
async function measureSealing(): Promise<Row> {
  const keys = await deriveKeys(generateRoomKey(), createSalt());
  const { encrypt } = createFileCipher(keys, { size: file.length, salt: createFileSalt() });
  const before = process.cpuUsage();
  for await (const _ of new Blob([file]).stream().pipeThrough(encrypt()));
  const { user, system } = process.cpuUsage(before);
  return boundedRow('seals a file of 10 MiB in Node, CPU time', (user + system) / 1000, 500, ms);
}

/** The longest time in which the page cannot react while it seals and uploads 10 MiB. */
async function measureResponsiveness(server: Server, browser: Browser): Promise<Row> {
  const [, link] = await createRooms(server);
  const page = await open(browser, link);
  // From a file on disk, because the page would also have to receive its bytes from this program.
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const path = join(folder, 'film.bin');
  writeFileSync(path, file.subarray(0, largestFile));
  await page.evaluate('probes.recordPauses()');
  await page.locator('input[type="file"]').first().setInputFiles(path);
  await page.getByRole('button', { name: 'Download film.bin' }).waitFor({ timeout: 60_000 });
  const longest = Math.max(...(await page.evaluate<number[]>('probes.recorded')));
  await page.context().close();
  rmSync(folder, { recursive: true });
  return boundedRow('seals and uploads almost 10 MiB in the page, longest pause', longest, 100, ms);
}

const ms = (value: number) => `${value.toFixed(0)} ms`;
