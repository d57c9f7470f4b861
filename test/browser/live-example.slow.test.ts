/** The examples in docs/live.md work as described. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';

const guide = await readFile(new URL('../../docs/live.md', import.meta.url), 'utf8');

const example = /<!-- example:browser -->\n```js\n(.*?)```/s.exec(guide)?.[1] ?? '';
const conversation = readConversation();

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

describe('the examples of the live guide', () => {
  it('[LIVE-1] [LIVE-16] the page shows every change and appends the lines that are typed', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await api.room();
    const content = `/api/rooms/${room}/content`;
    await api.post(content, { json: { content: 'First\n' } });
    const [one, other] = [await openExample(t, url, room), await openExample(t, url, room)];
    for (const page of [one, other]) await shows(page, 'First\n');

    await one.type('input', 'from the page');
    await one.press('input', 'Enter');
    for (const page of [one, other]) await shows(page, 'First\nfrom the page\n');
    await one.waitForFunction("document.querySelector('input').value === ''");

    const edits = [
      { from: 0, to: 5, insert: '1.' },
      { from: 19, to: 19, insert: '!' },
    ];
    await api.patch(content, { json: { edits } });
    for (const page of [one, other]) await shows(page, '1.\nfrom the page!\n');
    await api.post(content, { json: { content: 'with\r\n\u{1F9C3}' } });
    await api.patch(content, { json: { append: '\u{1F9C3}' } });
    for (const page of [one, other]) await shows(page, 'with\n\u{1F9C3}\u{1F9C3}');
  });

  it('[LIVE-16] [LIVE-17] [TEXT-10] the conversation about edits works as written', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await api.room();
    const content = `/api/rooms/${room}/content`;
    for (const text of ['H', 'Hell', 'Hello']) await api.post(content, { json: { content: text } });
    const phone = await openSocket(t, `${url}/api/rooms/${room}/live`);

    for (const { isSent, message } of conversation) {
      if (isSent) {
        phone.send(JSON.stringify(message));
        continue;
      }
      if (message.deviceId === 'laptop') {
        const headers = { 'x-device-id': 'laptop' };
        await api.patch(content, { json: { edits: message.edits }, headers });
      }
      assert.partialDeepStrictEqual(await phone.next(message.type), message);
    }
    assert.equal((await api.get(content)).json.content, 'Hi, world!');
    assert.equal(conversation.length, 7);
  });

  it('[LIVE-1] the curl command shows a snapshot', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await api.room();
    const command =
      /^curl -N (\S+)$/m.exec(guide)?.[1]?.replace('http://localhost:8080', url).replace('7KQ2MX', room) ?? '';
    const curl = execFile('curl', ['-sN', command]);
    t.after(() => curl.kill());
    let shown = '';
    curl.stdout?.on('data', (part) => {
      shown += part;
    });
    await eventually('it shows data', () => shown.includes('data: {'));
    assert.match(shown, /^id: 0\nevent: snapshot\ndata: \{/);
  });
});

interface Line {
  isSent: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: messages of all types
  message: any;
}

/** The lines of the guide; an ellipsis stands for fields that are not shown. */
function readConversation(): Line[] {
  const block = /<!-- example:edits -->\n```\n(.*?)```/s.exec(guide)?.[1] ?? '';
  return block
    .trim()
    .split('\n')
    .map((line) => ({ isSent: line.startsWith('→'), message: JSON.parse(line.slice(2).replaceAll(',…', '')) }));
}

async function openSocket(t: TestContext, url: string) {
  const socket = new WebSocket(url.replace('http', 'ws'));
  t.after(() => socket.close());
  const received: Line['message'][] = [];
  socket.onmessage = ({ data }) => received.push(JSON.parse(data));
  await once(socket, 'open');
  return {
    send: (text: string) => socket.send(text),
    /** The next message of this type; others, such as on devices, are passed over. */
    async next(type: string) {
      const index = () => received.findIndex((message) => message.type === type);
      await eventually(`a message of type ${type}`, () => index() >= 0);
      return received.splice(0, index() + 1).at(-1);
    },
  };
}

async function openExample(t: TestContext, url: string, room: string): Promise<Page> {
  const page = await browser.newPage();
  t.after(() => page.close());
  page.on('pageerror', (error) => assert.fail(error));
  await page.goto(`${url}/livez`);
  await page.evaluate("document.body.innerHTML = '<textarea></textarea><input>'");
  await page.addScriptTag({ content: `const code = ${JSON.stringify(room)};\n${example}` });
  return page;
}

const shows = (page: Page, text: string) =>
  page.waitForFunction(`document.querySelector('textarea').value === ${JSON.stringify(text)}`);
