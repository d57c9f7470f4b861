/** examples/page.html in a real browser, from another origin than the server's. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';

it('[DOCS-5] the page shares text and files, in two windows and with others', async (t) => {
  const origin = await serveFolder(t);
  const { url } = await startTestServer(t, { POPROOM_ALLOWED_ORIGINS: origin, POPROOM_FREE_LIMIT: '1000' });
  const room = await createClient({ url }).createRoom();
  await room.write('Hello');
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const open = async () => {
    const page = await browser.newPage();
    page.on('pageerror', (error) => assert.fail(error));
    await page.goto(`${origin}/examples/page.html?${room.link}`);
    await page.waitForFunction("document.querySelector('textarea:enabled')?.value === 'Hello'");
    return page;
  };
  const [one, other] = [await open(), await open()];

  // Both at the same time, key by key, and faster than each can be answered: every letter stays in its place.
  await one.locator('textarea').press('Control+End');
  await other.locator('textarea').press('Control+Home');
  await Promise.all([
    one.locator('textarea').pressSequentially(' from the first window'),
    other.locator('textarea').pressSequentially('Also: '),
  ]);
  const both = 'Also: Hello from the first window';
  for (const page of [one, other]) await page.waitForFunction(`document.querySelector('textarea').value === '${both}'`);
  await eventually('it is stored', async () => (await room.read()).content === both);

  await room.write('from elsewhere');
  for (const page of [one, other])
    await page.waitForFunction("document.querySelector('textarea').value === 'from elsewhere'");

  await other.setInputFiles('input', { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') });
  await one.waitForSelector('nav a');
  const href = await one.getAttribute('nav a', 'href');
  assert.equal(await (await fetch(href ?? '')).text(), 'a note');
  const [file] = await room.files();
  await room.removeFile(file?.fileId ?? '');
  await one.waitForSelector('nav a', { state: 'detached' });

  await room.delete();
  for (const page of [one, other]) await page.waitForSelector('textarea:disabled');
});

/** As small as web servers get. */
async function serveFolder(t: TestContext): Promise<string> {
  const root = new URL('../..', import.meta.url);
  const types: Record<string, string> = { html: 'text/html', js: 'text/javascript' };
  const server = createServer(async ({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const bytes = await readFile(new URL(`.${pathname}`, root)).catch(() => undefined);
    response.writeHead(bytes ? 200 : 404, { 'Content-Type': types[pathname.split('.').at(-1) ?? ''] ?? 'text/plain' });
    response.end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
