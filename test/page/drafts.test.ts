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
});

/** Another tab of the same browser, whose live channel can be closed while that of the first stays open. */
async function secondTab({ context }: BrowserDevice, code: string) {
  const page = await context.newPage();
  const channels = new Set<WebSocketRoute>();
  let isCut = false;
  await page.routeWebSocket('**/live', (channel) => {
    if (isCut) return void channel.close();
    channels.add(channel);
    channel.connectToServer();
  });
  await page.goto(`/r/${code}`);
  const second: BrowserDevice = { page, context };
  await showsStatus(second, 'Saved');
  return {
    second,
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

const draftsOf = (page: Page) =>
  page.evaluate(() => Object.entries(localStorage).flatMap(([key, value]) => (key.includes('draft') ? [value] : [])));

const keeps = (page: Page, words: string) =>
  eventually(`“${words}” is kept`, async () => (await draftsOf(page)).some((draft) => draft.includes(words)));
