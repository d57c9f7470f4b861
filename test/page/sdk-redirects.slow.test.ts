/** The SDK in a browser, and a server that would have it go elsewhere. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { launchBrowser } from '../support/browser.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { loadSdk, type WithSdk } from '../support/sdk-in-page.ts';

const openToAll = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };

describe('a redirect, in a browser', () => {
  it('[SDK-16] is not followed, so that neither PIN nor key goes to another origin', async (t) => {
    const asked: string[] = [];
    const elsewhere = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(200, openToAll).end('{}');
    });
    const target = `${await listenOnFreePort(t, elsewhere)}/taken`;
    const server = createServer(({ url }, response) => {
      if (url === '/') return response.setHeader('Content-Type', 'text/html').end('<title>A page</title>');
      return response.writeHead(307, { Location: target }).end();
    });
    const url = await listenOnFreePort(t, server);
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(url);
    await loadSdk(page);
    const codes = await page.evaluate(async () => {
      const { sdk } = globalThis as WithSdk;
      const room = sdk.createClient({ url: location.origin, apiKey: 'pop_secret' }).room('7KQ2MX', { pin: '0427' });
      const file = { fileUrl: `/files/${'0'.repeat(32)}/x` };
      const calls = [room.info(), room.read(), room.write('x'), room.files(), room.download(file), room.delete()];
      return Promise.all(calls.map((call) => (call as Promise<unknown>).catch(({ code }) => code)));
    });
    assert.deepEqual(
      codes,
      codes.map(() => 'INVALID_RESPONSE'),
    );
    assert.deepEqual(asked, []);
  });
});
