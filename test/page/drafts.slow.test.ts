/** Drafts: typed text that could not be sent yet, kept by each tab of a browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page, WebSocketRoute } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  joinRoom,
  sharedTestSite,
  showsStatus,
  showsText,
  startRoom,
  startTestSite,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { agreedText } from './support/typing.ts';

describe('the page, unsent edits', () => {
  it('[PAGE-15] [SYNC-3] of one tab are not changed by another tab, which sends its own', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const first = await joinRoom(site, code);
    const { second, disconnect, reconnect } = await secondTab(first, code);
    await disconnect();
    await showsStatus(second, 'Offline');
    await textOf(second).fill('of the second');
    await keeps(second.page, 'of the second');
    await textOf(first).fill('of the first');
    await showsStatus(first, 'Saved');
    assert.match(String(await draftsOf(second.page)), /of the second/);
    reconnect();
    await second.page.reload();
    await showsStatus(second, 'Saved');
    assertOnce(await agreedText(site, code, [first, second]), ['of the first', 'of the second']);
    await eventually('no draft is left', async () => (await draftsOf(second.page)).length === 0);
  });

  it('[PAGE-15] [SYNC-3] of an open tab are not taken over by a new tab', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const first = await joinRoom(site, code);
    const { second, disconnect, reconnect } = await secondTab(first, code);
    await disconnect();
    await showsStatus(second, 'Offline');
    await textOf(second).fill('of the second');
    await keeps(second.page, 'of the second');
    const third = { page: await first.context.newPage(), context: first.context };
    await third.page.goto(`/r/${code}`);
    await showsStatus(third, 'Saved');
    assert.equal(await textOf(third).inputValue(), '');
    reconnect();
    await second.page.evaluate(() => dispatchEvent(new Event('online')));
    assertOnce(await agreedText(site, code, [first, second, third]), ['of the second']);
  });

  it('[PAGE-15] [SYNC-3] of several closed tabs are all sent by the next tab, each once', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const first = await joinRoom(site, code);
    const { second } = await secondTab(first, code);
    await first.context.setOffline(true);
    for (const [tab, words] of [
      [first, 'of the first'],
      [second, 'of the second'],
    ] as const) {
      await showsStatus(tab, 'Offline');
      await textOf(tab).fill(words);
      await keeps(tab.page, words);
    }
    await second.page.close();
    await first.page.goto('about:blank');
    await first.context.setOffline(false);

    const next = { page: await first.context.newPage(), context: first.context };
    await next.page.goto(`/r/${code}`);
    await eventually('both are sent', async () =>
      /(first.*second|second.*first)/.test(await textOf(next).inputValue()),
    );
    assertOnce(await agreedText(site, code, [next]), ['of the first', 'of the second']);
    await eventually('no draft is left', async () => (await draftsOf(next.page)).length === 0);
  });

  it('[PAGE-15] [SYNC-3] whose response was lost with the page are not duplicated by the next tab', async (t) => {
    const site = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => site.server.port);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code, { baseURL: proxy.url });
    await showsStatus(laptop, 'Saved');
    proxy.pauseResponses();
    await textOf(laptop).pressSequentially('exactly once');
    await eventually('the first letter is stored', async () => {
      return (await site.server.api.get(`/api/rooms/${code}/content`)).json.content !== '';
    });
    await keeps(laptop.page, 'xactly once');
    proxy.disconnect();
    proxy.resume();
    await laptop.page.reload();
    await showsText(laptop, 'exactly once');
    assert.equal(await agreedText(site, code, [laptop]), 'exactly once');
  });

  it('[PAGE-15] [SYNC-3] of a room are kept after leaving, and sent once after rejoining', async (t) => {
    const site = await sharedTestSite(t);
    // From the home page, which could not be loaded later.
    const laptop = await site.openDevice();
    const code = await startRoom(laptop);
    await showsStatus(laptop, 'Saved');
    await laptop.context.setOffline(true);
    await showsStatus(laptop, 'Offline');
    await textOf(laptop).fill('before leaving');
    await laptop.page.getByRole('link', { name: 'Poproom home' }).click();
    await laptop.context.setOffline(false);
    await laptop.page.goBack();
    await showsText(laptop, 'before leaving');
    assert.equal(await agreedText(site, code, [laptop]), 'before leaving');
    await eventually('no draft is left', async () => (await draftsOf(laptop.page)).length === 0);
  });

  it('[PAGE-15] [SYNC-3] are taken over only from closed tabs, also over plain HTTP', async (t) => {
    const site = await startTestSite(t, {}, { host: 'pop.test' });
    const code = await site.server.api.room();
    const first = await joinRoom(site, code);
    // An open tab has 300 ms to answer, which is not enough for one on a busy machine.
    await first.page.addInitScript(() => {
      const start = window.setTimeout;
      const wait = (run: () => void, ms = 0, ...rest: unknown[]) => start(run, ms === 300 ? 5_000 : ms, ...rest);
      Object.assign(window, { setTimeout: wait });
    });
    const { second, disconnect } = await secondTab(first, code);
    await disconnect();
    await showsStatus(second, 'Offline');
    await textOf(second).fill('of the second');
    await keeps(second.page, 'of the second');
    assert.equal(await second.page.evaluate(() => 'locks' in navigator), false);
    await first.page.reload();
    await showsStatus(first, 'Saved');
    assert.equal(await textOf(first).inputValue(), '');
    await second.page.close();
    await first.page.reload();
    await showsText(first, 'of the second');
    assert.equal(await agreedText(site, code, [first]), 'of the second');
  });

  it('[PAGE-15] [PAGE-4] are kept, with the PIN, on a device whose clock is a day ahead', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room({ pin: '1204', expiresIn: 3_600 });
    // The clock must be set before the page is loaded.
    const device = await site.openDevice({ at: '/api/health' });
    await device.page.clock.install({ time: Date.now() + 23 * 3_600_000 });
    await device.page.goto(`/r/${code}`);
    await device.page.getByLabel('PIN').pressSequentially('1204');
    await textOf(device).waitFor();
    await device.context.setOffline(true);
    await showsStatus(device, 'Offline');
    await textOf(device).fill('not lost');
    await device.page.clock.runFor(1_000);
    await keeps(device.page, 'not lost');
    await device.context.setOffline(false);
    await device.page.reload();
    await showsText(device, 'not lost');
  });

  it('[PAGE-15] of a protected room that was deleted are removed by the home page, and those of others stay', async (t) => {
    const site = await sharedTestSite(t);
    const { api } = site.server;
    const [ended, other] = [await api.room({ pin: '1204' }), await api.room({ pin: '1204' })];
    const { context, page } = await site.openDevice();
    for (const [code, words] of [
      [ended, 'secret plans'],
      [other, 'still wanted'],
    ] as const)
      await leaveDraft({ page: await context.newPage(), context }, code, words);
    await api.delete(`/api/rooms/${ended}`, { pin: '1204' });

    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/rooms/')) asked.push(pathname);
    });
    await page.goto('/');
    await eventually('nothing of the deleted room is kept', () =>
      page.evaluate((code) => !JSON.stringify({ ...localStorage }).includes(code), ended),
    );
    await eventually('the other room was checked', () => asked.includes(`/api/rooms/${other}`));
    await eventually('one room is listed', async () => (await page.getByRole('listitem').count()) === 1);
    await page.reload({ waitUntil: 'networkidle' });
    assert.deepEqual(asked.sort(), [ended, other].map((code) => `/api/rooms/${code}`).sort(), 'each is asked for once');
    assert.match(String(await draftsOf(page)), /still wanted/);
    await page.goto(`/r/${other}`);
    await page.getByLabel('PIN').pressSequentially('1204');
    await showsText({ page, context }, 'still wanted');
  });

  it('[PAGE-15] are stored without the text around them, which only the tab keeps until they are sent', async (t) => {
    const site = await sharedTestSite(t);
    const code = await protectedRoom(site, 'secret plans');
    const tab = await site.openDevice({ at: '/api/health' });
    const channels = await interruptible(tab.page);
    await openProtected(tab, code);
    await showsText(tab, 'secret plans');
    await channels.disconnect();
    await showsStatus(tab, 'Offline');
    await textOf(tab).press('Home');
    await tab.page.keyboard.type('my ');
    await keeps(tab.page, '"my "');
    for (const action of ['typed', 'reloaded']) {
      assert.ok(!(await storedIn(tab.page, 'localStorage')).includes('secret'), `${action}: not on the device`);
      assert.match(await storedIn(tab.page, 'sessionStorage'), /secret plans/, `${action}: in the tab`);
      await tab.page.reload();
      await keeps(tab.page, '"my "');
    }
    channels.reconnect();
    await tab.page.reload();
    await showsText(tab, 'my secret plans');
    await stores(site, code, 'my secret plans');
    await eventually('no draft is left', async () => (await draftsOf(tab.page)).length === 0);
    assert.ok(!(await storedIn(tab.page, 'sessionStorage')).includes('plans'));
  });

  it('[PAGE-15] [SYNC-3] of a closed tab are sent to their place, after what others have edited since', async (t) => {
    const site = await sharedTestSite(t);
    const code = await protectedRoom(site, 'secret plans');
    const { context, page } = await site.openDevice();
    await leaveDraft({ page: await context.newPage(), context }, code, 'very secret plans');
    assert.ok(!(await storedIn(page, 'localStorage')).includes('secret'));
    const edits = [{ from: 12, to: 12, insert: ' of ours' }];
    const path = `/api/rooms/${code}/content`;
    assert.equal((await site.server.api.patch(path, { json: { edits, baseVersion: 1 }, pin: '1204' })).status, 200);
    const next = { page, context };
    await openProtected(next, code);
    await showsText(next, 'very secret plans of ours');
    await stores(site, code, 'very secret plans of ours');
    await eventually('no draft is left', async () => (await draftsOf(page)).length === 0);
  });

  it('[PAGE-15] that an earlier version of the page stored with the text are sent, and stored without it', async (t) => {
    const site = await sharedTestSite(t);
    const code = await protectedRoom(site, 'secret plans');
    const { context, page } = await site.openDevice();
    await leaveDraft({ page: await context.newPage(), context }, code, 'very secret plans');
    await page.evaluate(() => {
      for (const [key, value] of Object.entries(localStorage)) {
        if (!key.includes('draft')) continue;
        const { length: _length, ...draft } = JSON.parse(value);
        localStorage.setItem(key, JSON.stringify({ ...draft, content: 'secret plans' }));
      }
    });
    const next = { page, context };
    await page.goto(`/r/${code}`);
    await page.getByLabel('PIN').waitFor();
    await keeps(page, '"very "');
    assert.ok(!(await storedIn(page, 'localStorage')).includes('secret'));
    await page.reload();
    await page.getByLabel('PIN').pressSequentially('1204');
    await showsText(next, 'very secret plans');
    await stores(site, code, 'very secret plans');
  });

  it('[PAGE-15] are not stored, nor is any other text, when the server has acknowledged all of them', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice({ at: `/r/${await site.server.api.room({ pin: '1204' })}` });
    await device.page.getByLabel('PIN').pressSequentially('1204');
    await textOf(device).pressSequentially('the whole text', { delay: 50 });
    await showsStatus(device, 'Saved');
    await eventually('no draft is left', async () => (await draftsOf(device.page)).length === 0);
    assert.ok(!(await device.page.evaluate(() => JSON.stringify({ ...localStorage }))).includes('whole'));
  });
});

/** Types without a connection, in a room with a PIN, and closes the tab as a crash would. */
async function leaveDraft(tab: BrowserDevice, code: string, words: string): Promise<void> {
  await openProtected(tab, code);
  const before = await textOf(tab).inputValue();
  await tab.context.setOffline(true);
  await showsStatus(tab, 'Offline');
  await textOf(tab).fill(words);
  await keeps(tab.page, words.replace(before, ''));
  await tab.page.close({ runBeforeUnload: false });
  await tab.context.setOffline(false);
}

async function protectedRoom({ server: { api } }: TestSite, content: string): Promise<string> {
  const code = await api.room({ pin: '1204' });
  // The log has no entry for a short text without a device.
  const headers = { 'x-device-id': 'script' };
  await api.post(`/api/rooms/${code}/content`, { json: { content }, pin: '1204', headers });
  return code;
}

const stores = ({ server: { api } }: TestSite, code: string, text: string) =>
  eventually(`the server stores “${text}”`, async () => {
    return (await api.get(`/api/rooms/${code}/content`, { pin: '1204' })).json.content === text;
  });

async function openProtected(tab: BrowserDevice, code: string): Promise<void> {
  await tab.page.goto(`/r/${code}`);
  await tab.page.getByLabel('PIN').pressSequentially('1204');
  await showsStatus(tab, 'Saved');
}

/** Another tab of the same browser, whose live channel can be closed while that of the first stays open. */
async function secondTab({ context }: BrowserDevice, code: string) {
  const page = await context.newPage();
  const channels = await interruptible(page);
  await page.goto(`/r/${code}`);
  const second: BrowserDevice = { page, context };
  await showsStatus(second, 'Saved');
  return { second, ...channels };
}

/** Lets a test close the live channels of a page, while it can load everything else. */
async function interruptible(page: Page) {
  const channels = new Set<WebSocketRoute>();
  let isCut = false;
  await page.routeWebSocket('**/live', (channel) => {
    if (isCut) return void channel.close();
    channels.add(channel);
    channel.connectToServer();
  });
  return {
    async disconnect() {
      isCut = true;
      for (const channel of channels) await channel.close();
    },
    reconnect() {
      isCut = false;
    },
  };
}

function assertOnce(text: string, parts: readonly string[]): void {
  for (const part of parts) assert.equal(text.split(part).length, 2, `“${part}” is once in ${JSON.stringify(text)}`);
}

const storedIn = (page: Page, storage: 'localStorage' | 'sessionStorage') =>
  page.evaluate((name) => JSON.stringify({ ...window[name] }), storage);

const draftsOf = (page: Page) =>
  page.evaluate(() => Object.entries(localStorage).flatMap(([key, value]) => (key.includes('draft') ? [value] : [])));

const keeps = (page: Page, words: string) =>
  eventually(`“${words}” is kept`, async () => (await draftsOf(page)).some((draft) => draft.includes(words)));
