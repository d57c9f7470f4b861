/** The page as people use it: each device has a real browser, on a real server. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { createDevicePool, type DevicePool } from './device-pool.ts';
import { eventually } from './eventually.ts';
import { sharedServer, startTestServer, type TestServer } from './server.ts';

export interface BrowserDevice {
  readonly page: Page;
  readonly context: BrowserContext;
}

export interface TestSite {
  readonly server: TestServer;
  /** Opens a new browser context, which shares no state with others. */
  openDevice(options?: BrowserContextOptions & { at?: string }): Promise<BrowserDevice>;
}

export interface SiteOptions {
  /** Command-line switches. They start a separate browser; otherwise, all tests of a process share one. */
  browserArgs?: readonly string[];
  /** The host name of the server in the browser. */
  host?: string;
  /** The origin of the files, if it differs from that of the page. */
  filesOrigin?: string;
  /** Allows the service worker, which takes a second per device. */
  hasServiceWorker?: boolean;
}

/** The browser that the sites of this process share. It closes when nothing has used it for a while. */
let browser: { launched: Promise<Browser>; pool: DevicePool } | undefined;
let users = 0;
let closing: NodeJS.Timeout | undefined;
const closeAfterMs = 1000;

const withoutLimits = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

/**
 * A site whose server other tests of the process use too. It suits every test that uses rooms of its own, and neither
 * stops the server nor sets its clock.
 */
export async function sharedTestSite(t: TestContext): Promise<TestSite> {
  const server = await sharedServer(t, withoutLimits);
  return siteOn(t, server, { isShared: true });
}

/** The server uses the real time, because the countdown of the browser does. */
export async function startTestSite(
  t: TestContext,
  env: Record<string, string> = {},
  options: SiteOptions = {},
): Promise<TestSite> {
  const server = await startTestServer(t, { ...withoutLimits, ...env });
  server.clock.now = Date.now();
  return siteOn(t, server, options);
}

interface PoolOptions extends SiteOptions {
  /** Whether the next test can use the pages too, because it has the same server. */
  isShared?: boolean;
}

async function siteOn(
  t: TestContext,
  server: TestServer,
  { browserArgs, host = '127.0.0.1', filesOrigin, hasServiceWorker = false, isShared = false }: PoolOptions,
): Promise<TestSite> {
  const pool = browserArgs ? await ownBrowser(t, browserArgs) : sharedBrowser(t);
  const open = isShared ? pool.take : pool.open;
  return {
    server,
    async openDevice({ at = '/', ...options } = {}) {
      const device = await open({
        locale: 'en-GB',
        // Without a GPU, animations are the most expensive part.
        reducedMotion: 'reduce',
        serviceWorkers: hasServiceWorker ? 'allow' : 'block',
        baseURL: `http://${host}:${server.port}`,
        ...options,
      });
      const release = useBrowser();
      t.after(() => pool.giveBack(device).finally(release));
      failOnPageErrors(t, device.page, filesOrigin);
      await device.page.goto(at);
      // A key that is pressed before the first view is shown goes nowhere. Pages without #app, as the documentation, are complete.
      await device.page.locator('#app:empty').waitFor({ state: 'detached' });
      return device;
    },
  };
}

function sharedBrowser(t: TestContext): DevicePool {
  t.after(useBrowser());
  if (!browser) {
    const launched = launchBrowser();
    browser = { launched, pool: createDevicePool(() => launched) };
  }
  return browser.pool;
}

/** Keeps the shared browser open until the returned function is called. */
function useBrowser(): () => void {
  clearTimeout(closing);
  users += 1;
  return () => {
    users -= 1;
    if (users === 0) closing = setTimeout(closeBrowser, closeAfterMs);
  };
}

async function closeBrowser(): Promise<void> {
  const last = browser;
  browser = undefined;
  await (await last?.launched)?.close();
}

async function ownBrowser(t: TestContext, switches: readonly string[]): Promise<DevicePool> {
  const own = await launchBrowser(switches);
  t.after(() => own.close());
  return createDevicePool(async () => own);
}

/** Starts a room on this device and returns its code. */
export async function startRoom({ page }: BrowserDevice): Promise<string> {
  await page.getByRole('button', { name: 'Start a room' }).click();
  await page.getByRole('textbox', { name: 'Text' }).waitFor();
  return codeOf(page);
}

interface JoinOptions extends BrowserContextOptions {
  /** Otherwise the name is random. One in 1,176 pairs of devices would have the same, and the second one a number. */
  deviceName?: string;
}

/** Opens another device in the room. */
export async function joinRoom(
  site: TestSite,
  code: string,
  { deviceName, ...options }: JoinOptions = {},
): Promise<BrowserDevice> {
  const path = `/r/${code}`;
  const device = await site.openDevice({ ...options, at: deviceName === undefined ? path : '/api/health' });
  if (deviceName !== undefined) {
    await device.page.evaluate((name) => localStorage.setItem('poproom:name', JSON.stringify(name)), deviceName);
    await device.page.goto(path);
  }
  await textOf(device).waitFor();
  return device;
}

/** Chooses an entry of the menu that this button opens. */
export async function chooseEntry(page: Page, entry: string, button = 'More'): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click();
  await page.getByRole('menu', { name: button }).getByText(entry, { exact: true }).click();
}

/** Opens the question whether to delete the room, which is in its settings. */
export async function askToDelete(page: Page, translate = (key: 'roomSettings' | 'deleteRoom') => inEnglish[key]) {
  await page.getByRole('button', { name: translate('roomSettings') }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: translate('deleteRoom') })
    .click();
}

const inEnglish = { roomSettings: 'Room settings', deleteRoom: 'Delete room' };

/** An invited screen shows the room in display mode, until a key is pressed. */
export async function leaveDisplayMode(screen: BrowserDevice): Promise<void> {
  await screen.page.getByRole('dialog', { name: 'Display mode' }).waitFor();
  await screen.page.keyboard.press('Enter');
  await textOf(screen).waitFor();
}

export const textOf = ({ page }: BrowserDevice) => page.locator('textarea');

/** Waits until the field has exactly this text. */
export async function showsText(device: BrowserDevice, text: string): Promise<void> {
  const shown = () => textOf(device).inputValue();
  await eventually('the text is shown', async () => (await shown()) === text).catch(async () =>
    assert.equal(await shown(), text),
  );
}

/** Waits until the element has the focus. */
export const hasFocus = (element: Locator) => element.and(element.page().locator(':focus')).waitFor();

/** Waits for the status of the text, such as `Saved`, `Saving…` or `Offline`. `Saved` is hidden while it is empty. */
export async function showsStatus({ page }: BrowserDevice, status: string): Promise<void> {
  await page
    .locator('.status')
    .and(page.getByText(status, { exact: true }))
    .waitFor({ state: 'attached' });
}

export function codeOf(page: Page): string {
  return /\/r\/(\w+)$/.exec(page.url())?.[1] ?? assert.fail(`not in a room: ${page.url()}`);
}

/** Fails the test if the page throws, violates its Content-Security-Policy, or requests another origin. */
function failOnPageErrors(t: TestContext, page: Page, filesFrom: string | undefined): void {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted|Uncaught/i.test(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    const allowed = [new URL(page.url()).origin, filesFrom];
    if (protocol.startsWith('http') && !allowed.includes(origin) && page.url() !== 'about:blank') {
      problems.push(`requested ${request.url()}`);
    }
  });
  t.after(() => assert.deepEqual(problems, []));
}
