/** Common tus clients in a browser, on a page of another origin, against both engines. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { isLongRun } from '../hostile/long-run.ts';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { type Installation, installations } from '../support/installations.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { loadTusClients, type WithTusClients } from './support/tus-clients.ts';

const MiB = 1024 * 1024;
const fileBytes = (isLongRun ? 200 : 3) * MiB;
const interruptions = isLongRun ? 10 : 3;
const timeout = isLongRun ? 900_000 : 120_000;
const limits = { POPROOM_FILE_MAX: `${fileBytes}`, POPROOM_ROOM_MAX_BYTES: '4GiB', POPROOM_CLIENT_MAX_BYTES: '4GiB' };

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

describe('common tus clients in a browser', { timeout }, () => {
  for (const [engine, start] of Object.entries(installations)) {
    it(`[TUS-1] [TUS-3] [TUS-4] [TUS-6] [TUS-10] work on the ${engine} engine`, { timeout }, async (t) => {
      const visit = await openPage(t, await start(t, limits));
      for (const client of ['tus-js-client', 'Uppy'] as const) {
        await t.test(`${client} is rejected with 413 when a file exceeds the limit`, () =>
          assertRejected(visit, client),
        );
        await t.test(`${client} cancels an upload`, () => assertCancelled(visit, client));
        await t.test(`${client} uploads two files through interruptions`, (t) => assertArrives(t, visit, client));
      }
    });
  }
});

type ClientName = 'tus-js-client' | 'Uppy';

interface Visit {
  page: Page;
  line: TcpProxy;
  installation: Installation;
  /** Called with the bytes that the page has sent. */
  onSent: (bytes: number) => void;
}

async function assertRejected({ page, line, installation }: Visit, client: ClientName): Promise<void> {
  const room = await installation.current().api.room();
  const status = await page.evaluate(
    ([client, endpoint, size]) => (globalThis as WithTusClients).tusClients[client].rejectedWith(endpoint, size),
    [client, `${line.url}/api/rooms/${room}/uploads`, fileBytes + 1] as const,
  );
  assert.equal(status, 413);
}

async function assertCancelled({ page, line, installation }: Visit, client: ClientName): Promise<void> {
  const { api } = installation.current();
  const room = await api.room();
  const storedBytes = async () => (await api.get('/api/limits')).json.storedBytes;
  const before = await storedBytes();
  await page.evaluate(
    ([client, endpoint, size]) => (globalThis as WithTusClients).tusClients[client].cancel(endpoint, size),
    [client, `${line.url}/api/rooms/${room}/uploads`, fileBytes] as const,
  );
  await eventually('its bytes no longer count', async () => (await storedBytes()) === before);
}

/** Two uploads at the same time, interrupted again and again. */
async function assertArrives(t: TestContext, visit: Visit, client: ClientName): Promise<void> {
  const { page, line, installation } = visit;
  const room = await installation.current().api.room();
  const interrupted = interruptRandomly(t, visit, 2 * fileBytes);
  const sent = await page.evaluate(
    ([client, endpoint, size]) => (globalThis as WithTusClients).tusClients[client].upload(endpoint, 2, size),
    [client, `${line.url}/api/rooms/${room}/uploads`, fileBytes] as const,
  );
  assert.equal(await interrupted(), interruptions);
  const { api, url } = installation.current();
  const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
  const stored: Record<string, string> = {};
  for (const { fileName, fileUrl } of files) stored[fileName] = await hashOf(url + new URL(fileUrl).pathname);
  assert.deepEqual(stored, sent);
}

/**
 * Breaks all connections at random points. Every second time, the server is killed, or the node changes. The function that
 * it returns counts the interruptions when the last one has ended.
 */
function interruptRandomly(t: TestContext, visit: Visit, size: number): () => Promise<number> {
  const { line, installation } = visit;
  const random = seededRandom(t);
  const step = size / (interruptions + 1);
  let [count, sent, next] = [0, 0, random.number(step)];
  let interrupting = Promise.resolve();
  visit.onSent = (bytes) => {
    sent += bytes;
    if (count === interruptions || sent < next) return;
    count += 1;
    next = count * step + random.number(step);
    const isHard = count % 2 === 0;
    interrupting = interrupting.then(() => (isHard ? installation.interrupt() : undefined)).then(line.disconnect);
  };
  return async () => {
    await interrupting;
    return count;
  };
}

async function openPage(t: TestContext, installation: Installation): Promise<Visit> {
  const line = await startTcpProxy(t, () => installation.current().port);
  const html = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html>'));
  const origin = await listenOnFreePort(t, html);
  const page = await browser.newPage();
  t.after(() => page.close());
  const visit: Visit = { page, line, installation, onSent: () => undefined };
  await page.exposeFunction('onSent', (bytes: number) => visit.onSent(bytes));
  await page.goto(origin);
  await loadTusClients(page);
  return visit;
}

async function hashOf(url: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of (await fetch(url)).body ?? []) hash.update(chunk);
  return hash.digest('hex');
}
