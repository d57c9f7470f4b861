/** Lost and restored connections, and reached limits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, sharedTestSite, showsStatus, showsText, startTestSite, textOf } from '../support/page.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { twoDevices } from '../support/two-devices.ts';
import { agreedText } from './support/typing.ts';

declare global {
  interface Window {
    alerts: string[];
  }
}

const interrupted = ({ page }: BrowserDevice) => page.getByText('No connection. Your changes are kept');

describe('the page, a lost connection', () => {
  it('[slow] [PAGE-15] is shown, and the page reconnects automatically and sends offline edits', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one\ntwo\nthree\n');
    await laptop.context.setOffline(true);
    await interrupted(laptop).waitFor();
    await textOf(laptop).fill('one, offline\ntwo\nthree\n');
    await textOf(phone).fill('one\ntwo\nthree, online\n');
    await showsStatus(phone, 'Saved');
    await showsStatus(laptop, 'Offline');
    await laptop.context.setOffline(false);
    for (const device of [laptop, phone]) await showsText(device, 'one, offline\ntwo\nthree, online\n');
    await interrupted(laptop).waitFor({ state: 'detached' });
    await showsStatus(laptop, 'Saved');
  });

  it('[PAGE-15] [PAGE-57] [PAGE-58] during a restart of the server is restored on every device', async (t) => {
    const { laptop, phone, site } = await twoDevices(t, 'one\ntwo\nthree\n', { ownSite: {} });
    const port = String(site.server.port);
    await recordAlerts(laptop);
    await eventually('each device has a colour', async () => new Set(await dotColours(laptop)).size === 2);
    const live = await dotColours(laptop);
    await site.server.stop();
    for (const device of [laptop, phone]) await showsStatus(device, 'Offline');
    await interrupted(laptop).waitFor();
    await laptop.page.getByText('Others may have left or joined').waitFor();
    const outdated = await eventually('both have another colour', async () => {
      const [colour = '', ...others] = await dotColours(laptop);
      return others.length === 1 && others[0] === colour && !live.includes(colour) && colour;
    });
    assert.doesNotMatch(await laptop.page.evaluate(() => window.alerts.join()), /wrong|problem/);
    // The alert stays while the page tries to reconnect.
    await laptop.page.waitForEvent('requestfailed', (request) => request.url().endsWith('/livez'));
    assert.ok(!(await laptop.page.evaluate(() => window.alerts)).includes(''));
    await textOf(laptop).fill('one, laptop\ntwo\nthree\n');
    await textOf(phone).fill('one\ntwo\nthree, phone\n');
    await site.server.restart({ PORT: port });
    for (const device of [laptop, phone]) {
      await eventually(
        'both have both',
        async () => {
          return (await textOf(device).inputValue()) === 'one, laptop\ntwo\nthree, phone\n';
        },
        20_000,
      );
      await showsStatus(device, 'Saved');
    }
    await laptop.page.getByText('Others may have left or joined').waitFor({ state: 'detached' });
    await eventually('the colours are shown again', async () => {
      const colours = new Set(await dotColours(laptop));
      return colours.size === 2 && !colours.has(outdated);
    });
  });

  it('[slow] [PAGE-15] does not lose edits, even across a reload while the server is down', async (t) => {
    const { laptop, phone, site } = await twoDevices(t, 'before', { ownSite: { hasServiceWorker: true } });
    await laptop.page.evaluate(async () => void (await navigator.serviceWorker.ready));
    const port = String(site.server.port);
    await site.server.stop();
    await showsStatus(laptop, 'Offline');
    await textOf(laptop).fill('before and after');
    await laptop.page.reload();
    await laptop.page.getByText('Can’t reach the server').waitFor();
    await site.server.restart({ PORT: port });
    await textOf(laptop).waitFor({ timeout: 20_000 });
    await showsText(laptop, 'before and after');
    await eventually('the phone has it', async () => (await textOf(phone).inputValue()) === 'before and after', 20_000);
  });

  it('[slow] [PAGE-15] during sleep is detected when the page becomes visible again', async (t) => {
    const { server } = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const { laptop, phone } = await twoDevices(t, 'before', { phoneUrl: proxy.url });
    await phone.page.clock.install();
    proxy.dropSilently();
    await textOf(laptop).fill('while the phone slept');
    await showsStatus(laptop, 'Saved');
    await phone.page.clock.setSystemTime(Date.now() + 40_000);
    await phone.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await eventually(
      'the phone has the text',
      async () => (await textOf(phone).inputValue()) === 'while the phone slept',
      20_000,
    );
  });

  it('[slow] [PAGE-15] [SYNC-3] during a write loses nothing, whatever others wrote in the meantime', async (t) => {
    const { server } = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const { laptop, phone, site, code } = await twoDevices(t, 'list:', { phoneUrl: proxy.url });
    proxy.pause();
    await textOf(phone).fill('list: milk');
    await showsStatus(phone, 'Saving…');
    for (const text of ['list: e', 'list: eggs']) {
      await textOf(laptop).fill(text);
      await showsStatus(laptop, 'Saved');
    }
    proxy.disconnect();
    proxy.resume();
    await phone.page.waitForFunction(() => document.querySelector('textarea')?.value.includes('eggs'));
    assert.match(await agreedText(site, code, [laptop, phone]), /^list:( milk eggs| eggs milk)$/);
  });

  it('[slow] [PAGE-15] [SYNC-3] sends offline edits once, across a reload and a restart of the server', async (t) => {
    const { laptop, phone, site, code } = await twoDevices(t, 'start ', { ownSite: { hasServiceWorker: true } });
    await laptop.page.evaluate(async () => void (await navigator.serviceWorker.ready));
    const port = String(site.server.port);
    await textOf(laptop).press('End');
    await laptop.page.keyboard.type('sent ');
    await showsText(phone, 'start sent ');
    await site.server.stop();
    await showsStatus(laptop, 'Offline');
    await laptop.page.keyboard.type('waiting ');
    await laptop.page.reload();
    await laptop.page.getByText('Can’t reach the server').waitFor();
    await site.server.restart({ PORT: port });
    await textOf(laptop).waitFor({ timeout: 20_000 });
    await showsText(laptop, 'start sent waiting ');
    await textOf(laptop).press('End');
    await laptop.page.keyboard.type('more');
    assert.equal(await agreedText(site, code, [laptop, phone]), 'start sent waiting more');
  });
});

describe('the page, an unreachable server', () => {
  it('[slow] [PAGE-15] [PAGE-21] is retried automatically without moving the focus from the retry button', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const { page } = await site.openDevice();
    await page.route('**/livez', (route) => route.abort());
    await page.routeWebSocket('**/live', (socket) => void socket.close());
    await page.goto(`/r/${code}`);
    const again = await page.waitForSelector('text=Try again');
    await again.focus();
    const tried = page.waitForEvent('requestfailed');
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await tried;
    await page
      .getByText(/^Retrying in/)
      .first()
      .waitFor();
    assert.ok(await again.evaluate((button) => button === document.activeElement));
  });
});

describe('the page, a limit', () => {
  it('[slow] [PAGE-14] is shown on the start page and when joining, too', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '1' });
    const code = await site.server.api.room();
    const laptop = await site.openDevice();
    await laptop.page.getByRole('button', { name: 'Start a room' }).click();
    await laptop.page
      .getByText(/Too many requests\. Try again in (60|59) minutes\./)
      .first()
      .waitFor();
    const phone = await site.openDevice({ at: `/r/${code}` });
    await phone.page
      .getByText(/Too many requests\. Try again in (60|59) minutes\./)
      .first()
      .waitFor();
    site.server.clock.advance(3_600_000);
    await phone.page.getByRole('button', { name: 'Try again' }).click();
    await textOf(phone).waitFor();
  });
});

/** The colours of the dots of all devices. */
const dotColours = ({ page }: BrowserDevice) =>
  page.locator('.devices .dot').evaluateAll((dots) => dots.map((dot) => getComputedStyle(dot).backgroundColor));

/** Every alert, even one that is shown for a moment only. */
async function recordAlerts({ page }: BrowserDevice): Promise<void> {
  await page.evaluate(() => {
    window.alerts = [];
    const alerts = document.querySelector('.alerts') as Element;
    new MutationObserver(() => window.alerts.push(alerts.textContent)).observe(alerts, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
}
