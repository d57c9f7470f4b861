/** Into a room by its QR code, through the camera. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, codeOf, sharedTestSite, startTestSite, textOf } from '../support/page.ts';

const withCamera = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];

declare global {
  interface Window {
    /** What the stand-in for the browser's detector reads from the picture. */
    inView: string[];
    looks: number;
    streams: MediaStream[];
  }
}

describe('the page, the camera', () => {
  it('[PAGE-2] finds the QR code of a room, ignores others, and is then turned off', async (t) => {
    const site = await startTestSite(t, {}, { browserArgs: withCamera });
    const code = await site.server.api.room();
    const device = await site.openDevice();
    await standInForDetector(device);
    const { page } = device;

    await page.getByRole('button', { name: 'Scan QR code' }).click();
    await page.getByRole('dialog', { name: 'Scan QR code' }).waitFor();
    await page.waitForFunction(() => window.looks > 0);
    assert.ok(await page.locator('video').evaluate((video: HTMLVideoElement) => video.videoWidth > 0 && !video.paused));
    const seen = await page.evaluate(() => {
      window.inView = ['https://example.org/', 'WIFI:S:home;;'];
      return window.looks;
    });
    await page.waitForFunction((before) => window.looks > before + 1, seen);
    assert.equal(new URL(page.url()).pathname, '/');

    await page.evaluate((link) => window.inView.push(link), `${site.server.url}/r/${code}`);
    await textOf(device).waitFor();
    assert.equal(codeOf(page), code);
    await assertCameraIsOff(device);
  });

  it('[PAGE-2] is turned off when scanning is cancelled', async (t) => {
    const site = await startTestSite(t, {}, { browserArgs: withCamera });
    const device = await site.openDevice();
    await standInForDetector(device);
    const { page } = device;
    await page.getByRole('button', { name: 'Scan QR code' }).click();
    await page.waitForFunction(() => window.looks > 0);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await assertCameraIsOff(device);
  });

  it('[PAGE-2] without permission shows a message, and the code can be typed', async (t) => {
    const site = await startTestSite(
      t,
      {},
      { browserArgs: ['--use-fake-device-for-media-stream', '--deny-permission-prompts'] },
    );
    const device = await site.openDevice();
    await standInForDetector(device);
    const { page } = device;
    await page.getByRole('button', { name: 'Scan QR code' }).click();
    await page.getByRole('alert').filter({ hasText: 'Can’t access the camera.' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('textbox', { name: 'Code or link' }).fill(await site.server.api.room());
    await page.keyboard.press('Enter');
    await textOf(device).waitFor();
  });

  it('[PAGE-2] is not offered if the browser cannot read QR codes', async (t) => {
    const site = await sharedTestSite(t);
    const { page, context } = await site.openDevice();
    await context.addInitScript(() => Reflect.deleteProperty(window, 'BarcodeDetector'));
    await page.reload();
    await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Scan QR code' }).count(), 0);
  });
});

/** Chromium reads QR codes on Android and macOS only. Here, the test provides the detected codes. */
async function standInForDetector({ page, context }: BrowserDevice): Promise<void> {
  await context.addInitScript(() => {
    window.inView = [];
    window.looks = 0;
    window.streams = [];
    const { mediaDevices } = navigator;
    const ask = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (wanted) => {
      const stream = await ask(wanted);
      window.streams.push(stream);
      return stream;
    };
    class Detector {
      async detect(source: CanvasImageSource) {
        new OffscreenCanvas(8, 8).getContext('2d')?.drawImage(source, 0, 0);
        window.looks++;
        return window.inView.map((rawValue) => ({ rawValue }));
      }
    }
    Object.assign(window, { BarcodeDetector: Detector });
  });
  await page.reload();
}

async function assertCameraIsOff({ page }: BrowserDevice): Promise<void> {
  await eventually('the camera is off', () =>
    page.evaluate(() => window.streams.flatMap((s) => s.getTracks()).every(({ readyState }) => readyState === 'ended')),
  );
}
