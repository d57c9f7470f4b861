/** The page as people use it: each device has a real browser, on a real server. */
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { eventually } from './eventually.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface Device {
  readonly page: Page;
  readonly context: BrowserContext;
}

export interface World {
  readonly server: TestServer;
  /** A device of its own: nothing is remembered from another one. */
  device(options?: BrowserContextOptions & { at?: string }): Promise<Device>;
}

export interface Surroundings {
  /** Switches for a browser of its own; without, all worlds of a file share one. */
  switches?: readonly string[];
  /** The name by which the browser knows the server. */
  host?: string;
  /** The origin of the files, where it is not the page's. */
  filesFrom?: string;
  /** With the service worker, which costs a second of each device; without where it is not what is looked at. */
  worker?: boolean;
}

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

/** Rooms live by the real time here, as the browser's countdown does. */
export async function openWorld(
  t: TestContext,
  env: Record<string, string> = {},
  { switches, host = '127.0.0.1', filesFrom, worker = false }: Surroundings = {},
): Promise<World> {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0', ...env });
  server.clock.now = Date.now();
  const running = switches ? await ownBrowser(t, switches) : await sharedBrowser();

  return {
    server,
    async device({ at = '/', ...options } = {}) {
      const context = await running.newContext({
        locale: 'en-GB',
        // Without a graphics card, motion is what costs most.
        reducedMotion: 'reduce',
        serviceWorkers: worker ? 'allow' : 'block',
        baseURL: `http://${host}:${server.port}`,
        ...options,
      });
      context.setDefaultTimeout(30_000);
      t.after(() => context.close());
      const page = await context.newPage();
      watch(t, page, filesFrom);
      await page.goto(at);
      return { page, context };
    },
  };
}

function sharedBrowser(): Promise<Browser> {
  browser ??= launchBrowser();
  return browser;
}

async function ownBrowser(t: TestContext, switches: readonly string[]): Promise<Browser> {
  const own = await launchBrowser(switches);
  t.after(() => own.close());
  return own;
}

/** A room with a device in it. */
export async function startRoom({ page }: Device): Promise<string> {
  await page.getByRole('button', { name: 'Start a room' }).click();
  await page.getByRole('textbox', { name: 'Text' }).waitFor();
  return codeOf(page);
}

/** A further device in the room. */
export async function joinRoom(world: World, code: string, options?: BrowserContextOptions): Promise<Device> {
  const device = await world.device({ ...options, at: `/r/${code}` });
  await textOf(device).waitFor();
  return device;
}

export const textOf = ({ page }: Device) => page.locator('textarea');

/** Waits until the field has exactly this text. */
export async function showsText(device: Device, text: string): Promise<void> {
  const shown = () => textOf(device).inputValue();
  await eventually('the text is shown', async () => (await shown()) === text).catch(async () =>
    assert.equal(await shown(), text),
  );
}

/** Waits until the text is said to be so: `Saved`, `Saving…`, `Offline`, or why not. */
export async function showsStatus({ page }: Device, words: string): Promise<void> {
  await page.locator('.status').getByText(words, { exact: true }).waitFor();
}

export function codeOf(page: Page): string {
  return /\/r\/(\w+)$/.exec(page.url())?.[1] ?? assert.fail(`not in a room: ${page.url()}`);
}

/** No test passes while the page breaks, is refused something by its own policy, or asks anything of elsewhere. */
function watch(t: TestContext, page: Page, filesFrom: string | undefined): void {
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted|Uncaught/i.test(message.text())) wrong.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    const known = [new URL(page.url()).origin, filesFrom];
    if (protocol.startsWith('http') && !known.includes(origin) && page.url() !== 'about:blank') {
      wrong.push(`asked ${request.url()}`);
    }
  });
  t.after(() => assert.deepEqual(wrong, []));
}
