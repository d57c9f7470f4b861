/** The page as people use it: devices with a real browser each, on a real server. */
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
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

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

/** Rooms live by the real time here, as the browser's countdown does. */
export async function openWorld(t: TestContext, env: Record<string, string> = {}): Promise<World> {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0', ...env });
  server.clock.now = Date.now();
  browser ??= launchBrowser();
  const running = await browser;

  return {
    server,
    async device({ at = '/', ...options } = {}) {
      const context = await running.newContext({ locale: 'en-GB', baseURL: server.url, ...options });
      t.after(() => context.close());
      const page = await context.newPage();
      watch(t, page);
      await page.goto(at);
      return { page, context };
    },
  };
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

export function codeOf(page: Page): string {
  return /\/r\/(\w+)$/.exec(page.url())?.[1] ?? assert.fail(`not in a room: ${page.url()}`);
}

/** No test passes while the page breaks, is refused something by its own policy, or asks anything of elsewhere. */
function watch(t: TestContext, page: Page): void {
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted|Uncaught/i.test(message.text())) wrong.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== new URL(page.url()).origin && page.url() !== 'about:blank') {
      wrong.push(`asked ${request.url()}`);
    }
  });
  t.after(() => assert.deepEqual(wrong, []));
}
