/** The examples of docs/live.md do what they say. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { openLine } from '../support/line.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const guide = await readFile(new URL('../../docs/live.md', import.meta.url), 'utf8');

const example = /<!-- example:browser -->\n```js\n(.*?)```/s.exec(guide)?.[1] ?? '';

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

describe('the examples of the live guide', () => {
  it('[LIVE-1] [LIVE-5] the page of some twenty lines shares a text both ways', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await api.room();
    assert.ok(example.split('\n').length <= 23, 'it is as short as it claims');
    const page = await openExample(t, url, room);
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'from\r\noutside' } });
    await page.waitForFunction("document.querySelector('textarea').value === 'from\\noutside'");
    await page.fill('textarea', 'from the page');
    await stores(api, room, 'from the page');
  });

  it('[LIVE-5] the page loses no key that is pressed while an answer is on its way', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const { api } = server;
    const room = await api.room();
    const line = await openLine(t, () => server.port);
    const page = await openExample(t, line.url, room);
    line.holdAnswers();
    await page.type('textarea', 'a');
    await stores(api, room, 'a');
    await page.type('textarea', 'b');
    line.release();
    await stores(api, room, 'ab');
    assert.equal(await page.inputValue('textarea'), 'ab');
  });

  it('[LIVE-5] [LIVE-9] the page may have a key held down', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await api.room();
    const page = await openExample(t, url, room);
    for (let keys = 0; keys < 100; keys++) await page.keyboard.down('x');
    await stores(api, room, 'x'.repeat(100));
  });

  it('[LIVE-1] the curl command shows a snapshot', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await api.room();
    const command =
      /^curl -N (\S+)$/m.exec(guide)?.[1]?.replace('http://localhost:8080', url).replace('7KQ2MX', room) ?? '';
    const shown = new Promise<string>((resolve) => {
      const curl = execFile('curl', ['-sN', command]);
      t.after(() => curl.kill());
      curl.stdout?.once('data', resolve);
    });
    assert.match(await shown, /^id: 0\nevent: snapshot\ndata: \{/);
  });
});

/** In its field, once the channel is open. */
async function openExample(t: TestContext, url: string, room: string): Promise<Page> {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(`${url}/livez`);
  await page.evaluate("document.body.innerHTML = '<textarea></textarea>'");
  const told = page.waitForEvent('websocket').then((socket) => socket.waitForEvent('framereceived'));
  await page.addScriptTag({ content: `const code = ${JSON.stringify(room)};\n${example}` });
  await told;
  await page.focus('textarea');
  return page;
}

const stores = (api: TestServer['api'], room: string, content: string) =>
  eventually(`the room has “${content}”`, async () => {
    return (await api.get(`/api/rooms/${room}/content`)).json.content === content;
  });
