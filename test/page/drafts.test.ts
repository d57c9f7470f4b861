/** What was typed and could not be sent yet, kept by each tab of a browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page, WebSocketRoute } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { type Device, openWorld, showsStatus, showsText, startRoom, textOf } from '../support/page.ts';

const collided = ({ page }: Device) => page.getByRole('region', { name: 'Your changes that collided with others' });

describe('the page, words that wait', () => {
  it('[PAGE-15] of one tab are not touched by another, whose own are sent', async (t) => {
    const world = await openWorld(t);
    const first = await world.device();
    const code = await startRoom(first);
    const { second, cut, mend } = await secondTab(first, code);
    await cut();
    await showsStatus(second, 'Offline');
    await textOf(second).fill('of the second');
    await keeps(second.page, 'of the second');
    await textOf(first).fill('of the first');
    await showsStatus(first, 'Saved');
    assert.match(String(await draftsOf(second.page)), /of the second/);
    mend();
    await second.page.reload();
    for (const device of [first, second]) await showsText(device, 'of the first of the second');
    await showsStatus(second, 'Saved');
    await eventually('no draft is left', async () => (await draftsOf(second.page)).length === 0);
  });

  it('[PAGE-8] [PAGE-15] of several tabs that were closed are all there in the next', async (t) => {
    const world = await openWorld(t);
    const first = await world.device();
    const code = await startRoom(first);
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
    await showsStatus(next, 'Saved');
    const words = [await textOf(next).inputValue(), await collided(next).textContent()].join('\n');
    for (const tab of ['of the first', 'of the second']) assert.ok(words.includes(tab), words);
    assert.equal((await draftsOf(next.page)).length, 1, 'what collided, and nothing else');
  });

  it('[PAGE-15] [PAGE-4] stay, and the PIN with them, on a device whose clock is a day ahead', async (t) => {
    const world = await openWorld(t);
    const code = await world.server.api.room({ pin: '1204', expiresIn: 3_600 });
    const device = await world.device();
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

/** Another tab of the same browser, whose channel can be cut while that of the first goes on. */
async function secondTab({ context }: Device, code: string) {
  const page = await context.newPage();
  const channels = new Set<WebSocketRoute>();
  let isCut = false;
  await page.routeWebSocket('**/live', (channel) => {
    if (isCut) return void channel.close();
    channels.add(channel);
    channel.connectToServer();
  });
  await page.goto(`/r/${code}`);
  const second: Device = { page, context };
  await showsStatus(second, 'Saved');
  return {
    second,
    async cut() {
      isCut = true;
      for (const channel of channels) await channel.close();
    },
    mend() {
      isCut = false;
    },
  };
}

const draftsOf = (page: Page) =>
  page.evaluate(() => Object.entries(localStorage).flatMap(([key, value]) => (key.includes('draft') ? [value] : [])));

const keeps = (page: Page, words: string) =>
  eventually(`“${words}” is kept`, async () => (await draftsOf(page)).some((draft) => draft.includes(words)));
