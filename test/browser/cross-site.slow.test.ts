/** Attacks by a page of another site on its visitors, in a real browser, with a control. */
import assert from 'node:assert/strict';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { loadSdk, type WithSdk } from '../support/sdk-in-page.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

describe('a page of another site', () => {
  it('[LINK-4] cannot lock out its visitor with image requests, which would work if they counted', async (t) => {
    const { page, server, marked, unmarked } = await setUp(t);
    const room = await server.api.room();
    await showImages(page, marked, 25);
    const spared = await server.api.get(`/api/rooms/${room}`);
    assert.deepEqual([spared.status, spared.headers.get('x-ratelimit-remaining')], [200, '98']);
    await showImages(page, unmarked, 25);
    assert.equal((await server.api.get(`/api/rooms/${room}`)).json.error.details.reason, 'misses');
  });

  it('[LINK-4] cannot upload with a form, which would work if it were accepted', async (t) => {
    const { page, server, marked, unmarked } = await setUp(t);
    const room = await server.api.room();
    const files = async () => (await server.api.get(`/api/rooms/${room}/files`)).json.files.length;
    assert.equal(await submitForm(page, `${marked}/api/rooms/${room}/upload`), 400);
    assert.equal(await files(), 0);
    assert.equal(await submitForm(page, `${unmarked}/api/rooms/${room}/upload`), 201);
    assert.equal(await files(), 1);
  });

  it('[LINK-4] [TEXT-12] cannot write a text with a form of any type, marked or not', async (t) => {
    const { page, server, marked, unmarked, program } = await setUp(t);
    const path = `/api/rooms/${await server.api.room()}/content`;
    const text = async () => (await server.api.get(path)).json.content;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      for (const base of [marked, unmarked]) {
        assert.match(String(await submitText(page, base + path, type)), /^4(00|15)$/, type);
      }
      assert.equal(await text(), '', type);
    }
    assert.equal(await submitText(page, program + path, 'text/plain'), 200, 'as a request of a program');
    assert.equal(await text(), 'content=unwanted\r\n');
    const fetched = `fetch('${marked}${path}', { method: 'POST', body: 'by CORS' }).then(({ status }) => status)`;
    assert.equal(await page.evaluate(fetched), 200);
    assert.equal(await text(), 'by CORS');
  });

  it('[LINK-4] [LINK-6] can embed a picture of a room, link to it, and read it with CORS', async (t) => {
    const { page, server, marked } = await setUp(t);
    const room = await server.api.room();
    const sending = { headers: { 'content-type': 'image/png' } };
    const { fileUrl } = (await server.api.upload(room, 'dot.png', onePixel, sending)).json;
    assert.equal(await loads(page, marked + new URL(fileUrl).pathname), 'load');
    const read = `fetch('${marked}/api/rooms/${room}').then(async (answer) => [
      (await answer.json()).roomId,
      answer.headers.get('x-ratelimit-remaining'),
    ])`;
    assert.deepEqual(await page.evaluate(read), [room, '97']);
    await page.evaluate(`location.href = '${marked}/r/${room}'`);
    await page.getByRole('textbox', { name: 'Text' }).waitFor();
  });

  it('[LINK-5] cannot read any page of the server', async (t) => {
    const { page, marked } = await setUp(t);
    for (const path of ['/', '/docs', '/metrics', '/assets/icon.svg']) {
      const read = `fetch('${marked}${path}').then(() => 'read', () => 'refused')`;
      assert.equal(await page.evaluate(read), 'refused', path);
    }
    assert.equal(await page.evaluate(`fetch('${marked}/livez').then(() => 'read', () => 'refused')`), 'read');
  });
});

describe('the SDK on a page of another site', () => {
  it('[SDK-30] does not reconnect to a server that refuses its origin, and says why', async (t) => {
    const { page, server, marked } = await setUp(t);
    const code = await server.api.room();
    await loadSdk(page);
    const seen = await page.evaluate(
      async ([url = '', code = '']) => {
        const room = (globalThis as WithSdk).sdk.createClient({ url }).room(code);
        const live = room.live();
        const events: string[] = [];
        const error = await (async () => {
          for await (const { type } of live) events.push(type);
        })().catch((thrown) => thrown);
        const text = await room.text().ended.catch((thrown) => thrown);
        return [
          events.includes('connected'),
          error.code,
          error.message,
          (await live.ended).reason,
          text.code,
          (await room.read()).content,
        ];
      },
      [marked, code],
    );
    const message = 'Pages of this origin may not open live channels on this server.';
    const refused = 'ORIGIN_NOT_ALLOWED';
    assert.deepEqual(seen, [false, refused, message, 'refused', refused, '']);
  });

  it('[SDK-22] ends an upload that the server does not answer', async (t) => {
    const { page } = await setUp(t);
    const silent = await listen(
      t,
      createServer(({ method }, response) => {
        const allowed = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };
        if (method === 'OPTIONS') response.writeHead(204, allowed).end();
      }),
    );
    await loadSdk(page);
    const code = await page.evaluate(async (url) => {
      const room = (globalThis as WithSdk).sdk.createClient({ url, timeoutSeconds: 0.3 }).room('7KQ2MX');
      return room.upload(new Blob(['x']), { name: 'x' }).catch((error) => error.code);
    }, `http://127.0.0.1:${silent}`);
    assert.equal(code, 'TIMEOUT');
  });
});

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/**
 * The page is on 127.0.0.1 and the server on localhost: as it is, behind a proxy that removes the marks of browsers, and
 * behind one that also removes the origin, as if a program sent the requests.
 */
async function setUp(t: TestContext) {
  const server = await startTestServer(t);
  const unmarked = await listen(t, createServer(without(/^sec-fetch-/, server)));
  const program = await listen(t, createServer(without(/^sec-fetch-|^origin$/, server)));
  const site = await listen(
    t,
    createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>x</title>'),
    ),
  );
  const context = await browser.newContext({ serviceWorkers: 'block', locale: 'en-GB' });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${site}/`);
  const [marked = '', ...proxies] = [server.port, unmarked, program].map((port) => `http://localhost:${port}`);
  return { page, server, marked, unmarked: proxies[0] as string, program: proxies[1] as string };
}

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const without =
  (removed: RegExp, { port }: TestServer): Parameters<typeof createServer>[1] =>
  (incoming, response) => {
    const headers = Object.entries(incoming.headers).filter(([name]) => !removed.test(name));
    const { method, url: path } = incoming;
    const passed = request(
      { port, host: '127.0.0.1', method, path, headers: Object.fromEntries(headers) },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    incoming.pipe(passed);
  };

/** Of rooms that are not there; each is waited for. */
async function showImages(page: Page, base: string, count: number): Promise<void> {
  const addresses = Array.from({ length: count }, (_, n) => `${base}/api/rooms/ZZZZZZ${n + 10}`);
  const results = await Promise.all(addresses.map((address) => loads(page, address)));
  assert.ok(results.every((result) => result === 'error'));
}

const loads = (page: Page, address: string) =>
  page.evaluate(`new Promise((done) => {
    const image = new Image();
    image.referrerPolicy = 'no-referrer';
    image.onload = image.onerror = ({ type }) => done(type);
    image.src = '${address}';
  })`);

/** In a frame of its own, so that the page stays. */
async function submitForm(page: Page, action: string): Promise<number> {
  const answered = page.waitForResponse(action);
  await page.evaluate(`{
    const frame = document.createElement('iframe');
    frame.name = 'target' + Math.random();
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: '${action}', enctype: 'multipart/form-data', target: frame.name });
    const carried = new DataTransfer();
    carried.items.add(new File(['unwanted'], 'unwanted.txt', { type: 'text/plain' }));
    const field = Object.assign(document.createElement('input'), { type: 'file', name: 'file' });
    field.files = carried.files;
    form.append(field);
    document.body.append(frame, form);
    form.submit();
  }`);
  return (await answered).status();
}

async function submitText(page: Page, action: string, type: string): Promise<number> {
  const answered = page.waitForResponse(action);
  await page.evaluate(`{
    const frame = document.createElement('iframe');
    frame.name = 'target' + Math.random();
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: '${action}', enctype: '${type}', target: frame.name });
    form.append(Object.assign(document.createElement('input'), { name: 'content', value: 'unwanted' }));
    document.body.append(frame, form);
    form.submit();
  }`);
  return (await answered).status();
}
