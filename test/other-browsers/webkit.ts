/** WebKitGTK's MiniBrowser on a virtual screen, by WebDriver. A driver has one session, so each device has a driver. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import type { BrowserPage, OtherBrowser } from './other-browser.ts';

const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

export async function launchWebKit(driver: string, miniBrowser: string): Promise<OtherBrowser> {
  const screen = await startScreen();
  const sessions: { page: BrowserPage; close(): Promise<void> }[] = [];
  const name = `WebKitGTK (${miniBrowser})`;
  return {
    name,
    async open(url) {
      const session = await startSession(driver, miniBrowser, screen.display);
      sessions.push(session);
      await session.navigate(url);
      return session.page;
    },
    async close() {
      await Promise.all(sessions.map((session) => session.close()));
      await screen.close();
    },
  };
}

/** Xvfb chooses a free display and writes its number. */
async function startScreen(): Promise<{ display: string; close(): Promise<void> }> {
  const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number] = await once(screen.stdio[3] as NodeJS.ReadableStream, 'data');
  return { display: `:${String(number).trim()}`, close: () => end(screen) };
}

async function startSession(driver: string, binary: string, display: string) {
  const port = await freePort();
  const child = spawn(driver, [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    env: { ...process.env, DISPLAY: display, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', NO_AT_BRIDGE: '1' },
  });
  const base = `http://127.0.0.1:${port}`;
  await eventually('the driver answers', () =>
    fetch(`${base}/status`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const options = { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } };
  const created = await send(`${base}/session`, 'POST', { capabilities: { alwaysMatch: options } });
  const session = `${base}/session/${(created as { sessionId: string }).sessionId}`;
  return {
    page: createPage(session),
    navigate: (url: string) => send(`${session}/url`, 'POST', { url }),
    async close() {
      await send(session, 'DELETE').catch(() => undefined);
      await end(child);
    },
  };
}

function createPage(session: string): BrowserPage {
  const evaluate = (expression: string) =>
    send(`${session}/execute/sync`, 'POST', { script: `return (${expression})`, args: [] });
  const find = async (selector: string) => {
    const body = { using: 'css selector', value: selector };
    const found = await send(`${session}/element`, 'POST', body);
    return `${session}/element/${(found as Record<string, string>)[elementKey]}`;
  };
  return {
    evaluate,
    async click(selector) {
      const isClicked = () =>
        find(selector)
          .then((element) => send(`${element}/click`, 'POST', {}))
          .then(() => true);
      await eventually(`${selector} can be clicked`, () => isClicked().catch(() => false));
    },
    async type(text) {
      const keys = [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await send(`${session}/actions`, 'POST', { actions: [{ type: 'key', id: 'keyboard', actions: keys }] });
    },
    // Its driver's Ctrl+Z does nothing, not even in a bare text field.
    async undo() {
      await evaluate(`document.execCommand('undo')`);
    },
    async pick(selector, path) {
      const field = await eventually(`${selector} is there`, () => find(selector).catch(() => false as const));
      await send(`${field}/value`, 'POST', { text: path });
    },
    async reload() {
      await send(`${session}/refresh`, 'POST', {});
    },
    errors: () => [],
  };
}

async function send(url: string, method: string, body?: object): Promise<unknown> {
  const response = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as { value: unknown };
  if (!response.ok) throw new Error(`${method} ${url}: ${JSON.stringify(value)}`);
  return value;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}
