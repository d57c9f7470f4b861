/** The examples of docs/live.md do what they say. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';

const guide = await readFile(new URL('../../docs/live.md', import.meta.url), 'utf8');

describe('the examples of the live guide', () => {
  it('[LIVE-1] [LIVE-5] the page of fifteen lines shares a text both ways', async (t) => {
    const { api, url } = await startTestServer(t);
    const room = await api.room();
    const example = /<!-- example:browser -->\n```js\n(.*?)```/s.exec(guide)?.[1] ?? '';
    assert.ok(example.split('\n').length <= 17, 'it is as short as it claims');
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${url}/livez`);
    await page.evaluate("document.body.innerHTML = '<textarea></textarea>'");
    await page.addScriptTag({ content: `const code = ${JSON.stringify(room)};\n${example}` });

    await api.post(`/api/rooms/${room}/content`, { json: { content: 'from outside' } });
    await page.waitForFunction("document.querySelector('textarea').value === 'from outside'");
    await page.fill('textarea', 'from the page');
    await eventually('the text of the page is in the room', async () => {
      return (await api.get(`/api/rooms/${room}/content`)).json.content === 'from the page';
    });
  });

  it('[LIVE-1] the curl command shows a snapshot', async (t) => {
    const { api, url } = await startTestServer(t);
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
