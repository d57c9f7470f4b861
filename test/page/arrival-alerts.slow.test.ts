/** Alerts for files that arrive: a sound and a notification, if the user has chosen them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { sharedTestSite, startRoom } from '../support/page.ts';
import { arrived, pickFiles } from './support/files.ts';

const sound = (page: Page) => page.getByRole('switch', { name: 'Play a sound when files arrive' });
const notifications = (page: Page) =>
  page.getByRole('switch', { name: 'Notify me while this page is in the background' });
const openSettings = (page: Page) => page.getByRole('button', { name: 'Settings', exact: true }).click();

describe('the page, alerts for new files', () => {
  it('[PAGE-75] are off until they are turned on, and are only for files of other devices', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const { page, context } = device;
    await context.grantPermissions(['notifications']);
    await recordAlerts(page);
    await page.reload();
    const code = await startRoom(device);
    const upload = async (name: string) => {
      await site.server.api.upload(code, name, name);
      await arrived(page, name);
    };
    const alertsAre = (expected: Alerts) => showsAlerts(page, expected);
    await setVisibility(page, 'hidden');
    await upload('silent.txt');
    await setVisibility(page, 'visible');

    await openSettings(page);
    assert.equal(await sound(page).isChecked(), false);
    await sound(page).check();
    await alertsAre({ notes: 2, shown: 0 });
    await notifications(page).check();
    await page.keyboard.press('Escape');
    await upload('visible.txt');
    await alertsAre({ notes: 4, shown: 0 });
    await pickFiles(page, [{ name: 'own.txt', content: 'own' }]);
    await arrived(page, 'own.txt');
    await setVisibility(page, 'hidden');
    await upload('hidden.txt');
    await alertsAre({ notes: 6, shown: 1 });
    assert.ok(await clickNotification(page), 'the click focuses the page');
    assert.ok(await storedAcrossReload(page));
  });

  it('[slow] [PAGE-76] explain why there are no notifications, and stay off', async (t) => {
    const site = await sharedTestSite(t);
    const { page, context } = await site.openDevice();
    await page.addInitScript(() => {
      Object.defineProperty(Notification, 'requestPermission', { value: async () => 'denied' });
      Object.defineProperty(Notification, 'permission', { value: 'default' });
    });
    await page.reload();
    await openSettings(page);
    await notifications(page).click();
    await page.getByText('Notifications are blocked. Allow them for this site in your browser.').waitFor();
    assert.equal(await notifications(page).isChecked(), false);

    const other = await context.newPage();
    await other.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }));
    await other.goto('/');
    await openSettings(other);
    await other.getByText('Not available in this browser or without HTTPS.').waitFor();
    await notifications(other).click();
    assert.equal(await notifications(other).isChecked(), false);
  });
});

interface Alerts {
  notes: number;
  /** Notifications that name who added what: one file, or several if the message of the last one was still shown. */
  shown: number;
}

interface Recording extends Alerts {
  notifications: Notification[];
}

/** A browser without a window plays and shows nothing. It grants the permission, but reports it as denied. */
const recordAlerts = (page: Page) =>
  page.addInitScript(() => {
    const recording: Recording = { notes: 0, shown: 0, notifications: [] };
    // The page waits a second for the audio device, which is not enough on a busy machine.
    Object.defineProperty(AudioContext.prototype, 'state', { get: () => 'running' });
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function (when) {
      recording.notes += 1;
      start.call(this, when);
    };
    class RecordedNotification extends Notification {
      static override get permission(): NotificationPermission {
        return 'granted';
      }
      constructor(title: string, options?: NotificationOptions) {
        super(title, options);
        if (/^Someone added (hidden\.txt|\d files)$/.test(options?.body ?? '')) recording.shown += 1;
        recording.notifications.push(this);
      }
    }
    Object.assign(window, { recording, Notification: RecordedNotification });
  });

async function showsAlerts(page: Page, expected: Alerts): Promise<void> {
  const read = () =>
    page.evaluate(() => {
      const { notes, shown } = (window as unknown as { recording: Recording }).recording;
      return { notes, shown };
    });
  const isEqual = async () => JSON.stringify(await read()) === JSON.stringify(expected);
  await eventually('the alerts are there', isEqual).catch(async () => assert.deepEqual(await read(), expected));
}

/** Returns whether the page asked for the focus. */
const clickNotification = (page: Page) =>
  page.evaluate(() => {
    let isFocused = false;
    window.focus = () => {
      isFocused = true;
    };
    const { notifications } = (window as unknown as { recording: Recording }).recording;
    notifications.at(-1)?.dispatchEvent(new Event('click'));
    return isFocused;
  });

async function storedAcrossReload(page: Page): Promise<boolean> {
  await page.reload();
  await openSettings(page);
  return (await sound(page).isChecked()) && (await notifications(page).isChecked());
}

/** The browser of a test shows all its pages. */
const setVisibility = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
