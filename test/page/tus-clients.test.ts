/** Common tus clients in a browser, on a page of another origin, against both engines. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
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

describe('a common tus client in a browser', { timeout }, () => {
  for (const [engine, start] of Object.entries(installations)) {
    for (const name of ['tus-js-client', 'Uppy'] as const) {
      it(`[TUS-1] [TUS-3] [TUS-4] [TUS-6] [TUS-10] works: ${name}, ${engine} engine`, { timeout }, async (t) => {
        const visit = await openPage(t, await start(t, limits));
        const { page, installation } = visit;
        const { api } = installation.current();
        const endpoint = `${visit.line.url}/api/rooms/${await api.room()}/uploads`;
        const rejection = page.evaluate(
          ([name, endpoint, size]) => (globalThis as WithTusClients).tusClients[name].rejectedWith(endpoint, size),
          [name, endpoint, fileBytes + 1] as const,
        );
        assert.equal(await rejection, 413, 'a file over the limit is rejected at its creation');

        await page.evaluate(
          ([name, endpoint, size]) => (globalThis as WithTusClients).tusClients[name].cancel(endpoint, size),
          [name, endpoint, 3 * MiB] as const,
        );
        await eventually('the bytes of a cancelled upload no longer count', async () => {
          return (await api.get('/api/limits')).json.storedBytes === 0;
        });

        await assertArrives(t, visit, name);
      });
    }
  }
});

interface Visit {
  page: Page;
  line: TcpProxy;
  installation: Installation;
  /** Called with the bytes that the page has sent. */
  onSent: (bytes: number) => void;
}

/** Two uploads at the same time, interrupted again and again. */
async function assertArrives(t: TestContext, visit: Visit, name: 'tus-js-client' | 'Uppy'): Promise<void> {
  const { page, line, installation } = visit;
  const room = await installation.current().api.room();
  const count = interruptRandomly(t, visit, 2 * fileBytes);
  const sent = await page.evaluate(
    ([name, endpoint, size]) => (globalThis as WithTusClients).tusClients[name].upload(endpoint, 2, size),
    [name, `${line.url}/api/rooms/${room}/uploads`, fileBytes] as const,
  );
  assert.equal(count(), interruptions);
  const { api, url } = installation.current();
  const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
  const stored: Record<string, string> = {};
  for (const { fileName, fileUrl } of files) stored[fileName] = await hashOf(url + new URL(fileUrl).pathname);
  assert.deepEqual(stored, sent);
}

/** Breaks all connections at random points. Every second time, the server is killed, or the node changes. */
function interruptRandomly(t: TestContext, visit: Visit, size: number): () => number {
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
  return () => count;
}

async function openPage(t: TestContext, installation: Installation): Promise<Visit> {
  const line = await startTcpProxy(t, () => installation.current().port);
  const html = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html>'));
  const origin = await listenOnFreePort(t, html);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
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
