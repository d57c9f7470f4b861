/**
 * The main path of the page in Firefox and WebKit: `npm run test:browsers`. It is not part of `npm test`, which runs
 * all page tests in Chromium.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { launchFirefox } from './firefox.ts';
import type { BrowserPage, OtherBrowser } from './other-browser.ts';
import { launchWebKit } from './webkit.ts';

const firefox = '/usr/bin/firefox-esr';
const driver = '/usr/bin/WebKitWebDriver';
const miniBrowser = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

const start = 'form.home-card button.primary';
const text = 'textarea';

const browsers: Record<string, () => Promise<OtherBrowser>> = {
  Firefox: () => launchFirefox(installed(firefox, 'firefox-esr')),
  WebKit: () => launchWebKit(installed(driver, 'webkit2gtk-driver xvfb'), miniBrowser),
};

for (const [name, launch] of Object.entries(browsers)) {
  describe(`the page in ${name}`, () => {
    let browser: OtherBrowser;
    before(async () => {
      browser = await launch();
    });
    after(() => browser?.close());

    it('starts a room, where the first letters go into the text', async (t) => {
      const { server } = await startSite(t);
      const page = await browser.open(server.url);
      await page.click(start);
      await isFocused(page, text);
      await page.type('milk');
      await eventually('the text is on the server', async () => (await contentOf(server, page)) === 'milk');
      assert.deepEqual(page.errors(), []);
    });

    it('has two people typing in one text, who take back only their own words', async (t) => {
      const { server, url } = await startSite(t);
      const one = await browser.open(url);
      await one.click(start);
      await isFocused(one, text);
      const other = await browser.open(`${url}/r/${await codeOf(one)}`);
      await isFocused(other, text);
      await one.type('bread');
      await showsText(other, 'bread');
      await Promise.all([one.type(' butter'), other.type('jam ')]);
      const both = await eventually('both have the same text', async () => {
        const texts = await Promise.all([textOf(one), textOf(other), contentOf(server, one)]);
        return texts.every((shown) => shown === texts[0] && shown.length === 16) && texts[0];
      });
      for (const word of ['bread', 'butter', 'jam']) assert.ok(both.includes(word), both);

      await other.undo();
      await showsText(one, 'bread butter');
      await showsText(other, 'bread butter');
      assert.deepEqual([...one.errors(), ...other.errors()], []);
    });

    it('uploads a file, which the other device receives', async (t) => {
      const { server, url } = await startSite(t);
      const one = await browser.open(url);
      await one.click(start);
      await isFocused(one, text);
      const code = await codeOf(one);
      const other = await browser.open(`${url}/r/${code}`);
      await one.click('.file-picker button');
      await eventually('the menu is open', () => one.evaluate(`document.querySelector('.menu') !== null`));
      await one.pick('input[type=file]', await sampleFile(t));
      await eventually('the other device lists it', async () =>
        String(await other.evaluate(`document.querySelector('li.file')?.textContent ?? ''`)).includes('notes.txt'),
      );
      const { json } = await server.api.get(`/api/rooms/${code}/files`);
      const link = new URL(json.files[0].fileUrl, server.url).pathname;
      const bytes = `fetch(${JSON.stringify(link)}).then((response) => response.text())`;
      await other.evaluate(`void ${bytes}.then((body) => { window.received = body; })`);
      await eventually('it is received', async () => (await other.evaluate('window.received')) === 'some notes');
    });

    it('asks for the PIN, which is clicked and typed', async (t) => {
      const { server, url } = await startSite(t);
      const code = await server.api.room({ pin: '1204' });
      const page = await browser.open(`${url}/r/${code}`);
      await isFocused(page, '.pin-dots input');
      await page.type('9999');
      await eventually(
        'the PIN was wrong',
        () => page.evaluate(`!!document.querySelector('.pin-state[data-wrong]')`) as Promise<boolean>,
      );
      await page.click('.pad button:nth-child(1)');
      await page.click('.pad button:nth-child(2)');
      await page.type('04');
      await isFocused(page, text);
    });

    it('[PAGE-104] scans the QR code of a screen, and invites it into a new room', async (t) => {
      const { url } = await startSite(t);
      const screen = await browser.open(`${url}/invite`);
      const phone = await browser.open(url);
      const qr = `document.querySelector('.qr path')?.getAttribute('d') || false`;
      const modules = await eventually('the QR code', () => screen.evaluate(qr) as Promise<string | false>);
      const hasCamera = await phone.evaluate(cameraThatSees(modules));
      if (!hasCamera) return t.skip('this browser has no camera');
      await phone.click('form.home-card .button[title]');
      await eventually(
        'the invitation is read',
        () => phone.evaluate(`location.pathname === '/invite'`) as Promise<boolean>,
      );
      await phone.click(start);
      await eventually(
        'the screen is in display mode',
        () => screen.evaluate(`!!document.querySelector('dialog.display[open]')`) as Promise<boolean>,
      );
      await screen.type('x');
      await isFocused(screen, text);
      await eventually('the phone knows', async () =>
        String(await phone.evaluate('document.body.textContent')).includes(await codeOf(screen)),
      );
      assert.deepEqual([...screen.errors(), ...phone.errors()], []);
    });

    it('reconnects after the server was away, and keeps what was typed meanwhile', async (t) => {
      const { server, url, proxy } = await startSite(t);
      const page = await browser.open(url);
      await page.click(start);
      await isFocused(page, text);
      await page.type('before');
      await eventually('the text is on the server', async () => (await contentOf(server, page)) === 'before');
      proxy.pause();
      proxy.disconnect();
      await page.type(' and after');
      proxy.disconnect();
      proxy.resume();
      await eventually('the text is on the server', async () => (await contentOf(server, page)) === 'before and after');
      await page.reload();
      await showsText(page, 'before and after');
    });
  });
}

async function startSite(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' });
  server.clock.now = Date.now();
  const proxy = await startTcpProxy(t, () => server.port);
  return { server, proxy, url: proxy.url };
}

/** An expression that replaces the camera with a picture of a QR code. False if the page cannot ask for a camera. */
const cameraThatSees = (modules: string) => `(() => {
  if (!navigator.mediaDevices?.getUserMedia) return false;
  const context = Object.assign(document.createElement('canvas'), { width: 640, height: 480 }).getContext('2d');
  setInterval(() => {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = 'white';
    context.fillRect(0, 0, 640, 480);
    context.setTransform(8, 0, 0, 8, 130, 40);
    context.fillStyle = 'black';
    context.fill(new Path2D(${JSON.stringify(modules)}));
  }, 100);
  MediaDevices.prototype.getUserMedia = async () => context.canvas.captureStream();
  return true;
})()`;

async function isFocused(page: BrowserPage, selector: string): Promise<void> {
  const expression = `document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`;
  await eventually(`the focus is on ${selector}`, () => page.evaluate(expression) as Promise<boolean>);
}

async function textOf(page: BrowserPage): Promise<string> {
  return String(await page.evaluate(`document.querySelector('textarea')?.value ?? ''`));
}

async function showsText(page: BrowserPage, expected: string): Promise<void> {
  const isShown = async () => (await textOf(page)) === expected;
  await eventually('the text is shown', isShown).catch(async () => assert.equal(await textOf(page), expected));
}

async function codeOf(page: BrowserPage): Promise<string> {
  return String(await page.evaluate(`location.pathname.split('/').at(-1)`));
}

async function contentOf(server: TestServer, page: BrowserPage): Promise<string> {
  const { json } = await server.api.get(`/api/rooms/${await codeOf(page)}/content`);
  return json.content;
}

async function sampleFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-other-browsers-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'notes.txt');
  await writeFile(path, 'some notes');
  return path;
}

function installed(path: string, packages: string): string {
  if (!existsSync(path)) throw new Error(`${path} is missing: on Debian, "sudo apt-get install ${packages}".`);
  return path;
}
