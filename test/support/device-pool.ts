/** Browser pages that tests of a process use one after another. A new context takes twice the time of a used page. */
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';

export interface PooledDevice {
  readonly page: Page;
  readonly context: BrowserContext;
}

interface Slot extends PooledDevice {
  /** Contexts differ in their options and in their server. */
  key: string;
  openSession(): Promise<CDPSession>;
  /** Whether a test has changed something that cannot be undone. */
  isChanged: boolean;
}

export interface DevicePool {
  /** Opens a page in a new context. */
  open(options: BrowserContextOptions): Promise<PooledDevice>;
  /** A page without any state, which other tests may have used before. */
  take(options: BrowserContextOptions): Promise<PooledDevice>;
  /** Closes a page, or clears everything that it has stored and keeps it for another test. */
  giveBack(device: PooledDevice): Promise<void>;
}

/** Their effect lasts until the page or the context is closed. */
const pageChanges = [
  'addInitScript',
  'emulateMedia',
  'exposeBinding',
  'exposeFunction',
  'route',
  'routeWebSocket',
  'setViewportSize',
] as const;
const contextChanges = [
  'addInitScript',
  'exposeBinding',
  'exposeFunction',
  'grantPermissions',
  'newCDPSession',
  'route',
  'routeWebSocket',
] as const;
const clockChanges = ['install', 'pauseAt', 'setFixedTime', 'setSystemTime'] as const;
const eventNames = [
  'console',
  'dialog',
  'download',
  'filechooser',
  'framenavigated',
  'pageerror',
  'popup',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
  'websocket',
] as const;
const maxIdle = 8;

export function createDevicePool(browser: () => Promise<Browser>): DevicePool {
  const idle: Slot[] = [];
  const used = new Map<Page, Slot>();

  return {
    open: async (options) => openSlot(await browser(), '', options),

    async take(options) {
      const key = JSON.stringify(options);
      const index = idle.findIndex((slot) => slot.key === key && !slot.page.isClosed());
      const slot = index < 0 ? await openSlot(await browser(), key, options) : (idle.splice(index, 1)[0] as Slot);
      used.set(slot.page, slot);
      return slot;
    },

    async giveBack({ page, context }) {
      const slot = used.get(page);
      used.delete(page);
      const isReusable = slot && !slot.isChanged && !page.isClosed() && context.pages().length === 1;
      // The server may be gone.
      if (!isReusable || !(await isCleared(slot))) return context.close();
      idle.push(slot);
      if (idle.length > maxIdle) await idle.shift()?.context.close();
    },
  };
}

async function openSlot(browser: Browser, key: string, options: BrowserContextOptions): Promise<Slot> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const openSession = context.newCDPSession.bind(context, page);
  const slot = { key, page, context, openSession, isChanged: false };
  const onChange = () => {
    slot.isChanged = true;
  };
  observe(page, pageChanges, onChange);
  observe(context, contextChanges, onChange);
  observe(page.clock, clockChanges, onChange);
  return slot;
}

function observe<T extends object>(target: T, names: readonly (keyof T)[], onCall: () => void): void {
  for (const name of names) {
    const method = target[name] as (...args: unknown[]) => unknown;
    target[name] = ((...args: unknown[]) => {
      onCall();
      return method.apply(target, args);
    }) as T[typeof name];
  }
}

const isCleared = (slot: Slot) =>
  clear(slot).then(
    () => true,
    () => false,
  );

/** A file of the same origin takes the place of the page, because storage belongs to an origin. */
async function clear({ page, context, openSession }: Slot): Promise<void> {
  for (const name of eventNames) page.removeAllListeners(name);
  // The page may ask whether to leave it.
  page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined));
  await context.setOffline(false);
  await page.goto('/api/health');
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  const { origin } = new URL(page.url());
  const storageTypes = 'cookies,indexeddb,cache_storage';
  const session = await openSession();
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
  await session.send('Page.resetNavigationHistory');
  await session.detach();
  page.removeAllListeners('dialog');
}
