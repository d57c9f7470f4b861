/** Uploaded files in a real browser: none of them can act on the origin, whatever its content and name. */
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';

/** Tells that it ran, and leaves a mark on the origin that it ran on. */
const attack = (tag: string) => `console.log('ran: ${tag}'); localStorage.setItem('ran', '${tag}');`;
const html = (tag: string) => `<!doctype html><title>x</title><script>${attack(tag)}</script>`;
const svg = (tag: string) => `<svg xmlns="http://www.w3.org/2000/svg"><script>${attack(tag)}</script></svg>`;
const xhtml = (tag: string) => `<html xmlns="http://www.w3.org/1999/xhtml"><script>${attack(tag)}</script></html>`;

/** Documents, and what a stranger may call them; the first type is the true one. */
const documents = [
  { make: html, types: ['text/html', 'text/plain', 'image/png', 'rubbish'] },
  { make: svg, types: ['image/svg+xml', 'text/xml'] },
  { make: xhtml, types: ['application/xhtml+xml', 'application/xml'] },
];

const embeddings = {
  iframe: (url: string) => `<iframe src="${url}"></iframe>`,
  object: (url: string) => `<object data="${url}"></object>`,
  embed: (url: string) => `<embed src="${url}">`,
};

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

describe('an uploaded document with a script', () => {
  it('[FILE-3] [FILE-4] runs nothing when it is opened; the same document served plainly does', async (t) => {
    const { pageAt, uploadAll, serveAll, ran } = await setUp(t);
    const page = await pageAt('/stage');
    for (const url of await uploadAll()) await open(page, url);
    for (const url of serveAll()) await open(page, url);
    await ran.assertOnlyControls(page);
  });

  for (const [way, element] of Object.entries(embeddings)) {
    it(`[FILE-3] runs nothing in an ${way} of its own origin; the same document served plainly does`, async (t) => {
      const { pageAt, uploadAll, serveAll, ran } = await setUp(t);
      const page = await pageAt('/stage');
      const uploaded = await uploadAll();
      const answered = Promise.all(uploaded.map((url) => page.waitForResponse(url)));
      for (const url of uploaded) await add(page, element(url));
      await answered;
      for (const url of serveAll()) await add(page, element(url));
      await ran.assertOnlyControls(page);
    });
  }

  it('[FILE-3] runs nothing as an image', async (t) => {
    const { pageAt, upload, ran } = await setUp(t);
    const page = await pageAt('/stage');
    for (const type of ['image/svg+xml', 'image/png', 'text/plain']) {
      const url = await upload(svg(type), type);
      await page.evaluate(`new Promise((done) => {
        const image = new Image();
        image.onload = image.onerror = done;
        image.src = '${url}';
        document.body.append(image);
      })`);
    }
    ran.assertNone();
  });

  it('[FILE-3] does not run as a script of a page of its own origin; the same file served plainly does', async (t) => {
    const { pageAt, upload, serve, ran } = await setUp(t);
    const [stage, docs] = [await pageAt('/stage'), await pageAt('/docs')];
    const load = (page: Page, url: string) =>
      page.evaluate(`new Promise((done) => {
        const script = document.createElement('script');
        script.onload = () => done('loaded');
        script.onerror = () => done('refused');
        // The page of the documents requires Trusted Types, so it refuses every URL of a script.
        try { script.src = '${url}'; } catch { return done('refused'); }
        document.head.append(script);
      })`);
    for (const type of ['text/javascript', 'application/javascript', 'text/plain', 'image/png', 'audio/mpeg']) {
      const url = await upload(attack(type), type);
      for (const page of [stage, docs]) assert.equal(await load(page, url), 'refused');
    }
    ran.assertNone();
    assert.equal(await load(stage, serve(attack('control'), 'text/javascript')), 'loaded');
    await ran.assertOnlyControls(stage, 1);
  });

  it('[FILE-3] cannot be a service worker of its origin; the same file served plainly can', async (t) => {
    const { pageAt, upload, serve } = await setUp(t);
    const [stage, docs] = [await pageAt('/stage'), await pageAt('/docs')];
    const register = (page: Page, url: string) =>
      page.evaluate(`navigator.serviceWorker.register('${url}').then(() => 'registered', (error) => error.name)`);
    for (const type of ['text/javascript', 'application/javascript', 'text/plain']) {
      const url = await upload(';', type);
      assert.equal(await register(stage, url), 'SecurityError');
      assert.equal(await register(docs, url), 'TypeError', 'the page of the documents requires Trusted Types');
    }
    assert.equal(await register(stage, serve(';', 'text/javascript')), 'registered');
  });
});

describe('an uploaded file', () => {
  it('[FILE-4] opens in the browser if it is an image or plain text', async (t) => {
    const { pageAt, upload } = await setUp(t);
    const page = await pageAt('/stage');
    await page.goto(await upload(onePixel, 'image/png'));
    await page.waitForFunction("document.querySelector('img')?.naturalWidth === 1");
    await page.goto(await upload('naïve <b>text</b>', 'text/plain'));
    assert.equal(await page.evaluate('document.body.innerText'), 'naïve <b>text</b>');
  });

  it('[FILE-4] is saved under its name if it is anything else', async (t) => {
    const { pageAt, upload } = await setUp(t);
    const page = await pageAt('/stage');
    const url = await upload('PK', 'application/zip');
    const download = page.waitForEvent('download');
    await open(page, url);
    assert.equal((await download).suggestedFilename(), 'naïve file');
  });
});

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function setUp(t: TestContext) {
  const { api, port } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
  const { origin, serve } = await startOrigin(t, port);
  const room = await api.room();
  const context = await browser.newContext();
  t.after(() => context.close());

  async function upload(body: string | Buffer, type: string): Promise<string> {
    const { json } = await api.upload(room, 'naïve file', body, { headers: { 'content-type': type } });
    return origin + new URL(json.fileUrl).pathname;
  }
  const allDocuments = documents.flatMap(({ make, types }) => types.map((type) => ({ body: make(type), type })));
  return {
    upload,
    uploadAll: () => Promise.all(allDocuments.map(({ body, type }) => upload(body, type))),
    serve,
    serveAll: () => documents.map(({ make, types }) => serve(make('control'), types[0] ?? '')),
    ran: watchScripts(context),
    async pageAt(path: string): Promise<Page> {
      const page = await context.newPage();
      await page.goto(origin + path);
      return page;
    },
  };
}

/** The scripts that reported that they ran. */
function watchScripts(context: BrowserContext) {
  const seen: string[] = [];
  context.on('console', (message) => {
    if (message.text().startsWith('ran: ')) seen.push(message.text());
  });
  return {
    assertNone: () => assert.deepEqual(seen, []),
    /** Waits for the controls, which came last, and fails if anything else ran or left its mark. */
    async assertOnlyControls(page: Page, count = documents.length): Promise<void> {
      const controls = Array<string>(count).fill('ran: control');
      await eventually('the controls run', () => seen.filter((line) => line === 'ran: control').length === count);
      assert.deepEqual(seen, controls);
      assert.equal(await page.evaluate("localStorage.getItem('ran')"), 'control');
    },
  };
}

/**
 * The service behind a plain server, which serves other pages on the same origin: an empty one without any policy, and
 * given documents. So only the headers of the files protect the origin.
 */
async function startOrigin(t: TestContext, servicePort: number) {
  const pages = new Map([['/stage', { body: '<!doctype html>', type: 'text/html' }]]);
  const server = createServer((incoming, outgoing) => {
    const page = pages.get(incoming.url ?? '');
    if (page) return void outgoing.writeHead(200, { 'Content-Type': page.type }).end(page.body);
    const { method, url: path, headers } = incoming;
    const onward = request({ port: servicePort, host: '127.0.0.1', method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns the address of what is served plainly. */
    serve(body: string, type: string): string {
      const path = `/plain/${pages.size}`;
      pages.set(path, { body, type });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    },
  };
}

/** To the end of its loading, or to the moment when it turns into a download. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url).catch((error: Error) => assert.match(error.message, /Download is starting|ERR_ABORTED/));
}

async function add(page: Page, element: string): Promise<void> {
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(element)})`);
}
