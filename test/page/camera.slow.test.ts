/** Into a room by its QR code, through the camera. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { encode } from 'uqr';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, codeOf, sharedTestSite, startTestSite, textOf } from '../support/page.ts';

const withCamera = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];

declare global {
  interface Window {
    /** The text that the replaced barcode detector returns. */
    inView: string[];
    looks: number;
    streams: MediaStream[];
    /** The QR code in front of the camera: its rows, true for dark modules. */
    held: boolean[][];
  }
}

describe('the page, the camera', () => {
  it('[PAGE-2] is turned off when scanning is cancelled, and when it has found the QR code of a room, not others', async (t) => {
    const site = await startTestSite(t, {}, { browserArgs: withCamera });
    const code = await site.server.api.room();
    const device = await site.openDevice({ at: '/api/health' });
    await standInForDetector(device);
    const { page } = device;

    await page.getByRole('button', { name: 'Scan QR code' }).click();
    await page.waitForFunction(() => window.looks > 0);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await assertCameraIsOff(device);

    await page.reload();
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

  it('[PAGE-2] without permission shows a message, and the code can be typed', async (t) => {
    const site = await startTestSite(
      t,
      {},
      { browserArgs: ['--use-fake-device-for-media-stream', '--deny-permission-prompts'] },
    );
    const device = await site.openDevice({ at: '/api/health' });
    await standInForDetector(device);
    const { page } = device;
    await page.getByRole('button', { name: 'Scan QR code' }).click();
    await page.getByRole('alert').filter({ hasText: 'Can’t access the camera.' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('textbox', { name: 'Code or link' }).fill(await site.server.api.room());
    await page.keyboard.press('Enter');
    await textOf(device).waitFor();
  });

  it('[PAGE-2] is not offered if the browser has none, as over plain HTTP', async (t) => {
    const site = await sharedTestSite(t);
    const { page, context } = await site.openDevice({ at: '/api/health' });
    await context.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'mediaDevices'));
    await page.goto('/');
    await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Scan QR code' }).count(), 0);
  });

  it('[PAGE-104] reads QR codes in a worker if the browser has no detector, also the QR code of a screen', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice({ at: '/api/health' });
    const { page } = device;
    const code = await site.server.api.room();
    await standInForCamera(device);
    const scan = page.getByRole('button', { name: 'Scan QR code' });
    await scan.click();
    await page.waitForFunction(() => window.looks > 1);
    assert.equal(page.workers().length, 1);
    const fragment = '7KQ2MX.j0DFrbaPJWJK5bIU6nZ6bslNgp09e14a0bpvPiE4KF8.QEFCQ0RFRkdISUpLTE1OTw';
    await showToCamera(page, `${site.server.url}/invite#${fragment}`);
    await page.getByRole('heading', { name: 'Invite another screen' }).waitFor();
    assert.equal(new URL(page.url()).hash, '');
    await assertCameraIsOff(device);
    await eventually('the worker has ended', () => page.workers().length === 0);

    await page.getByRole('button', { name: 'Cancel' }).click();
    await showToCamera(page, `${site.server.url}/r/${code}`);
    await scan.click();
    await textOf(device).waitFor();
    assert.equal(codeOf(page), code);
    await assertCameraIsOff(device);
  });
});

/** A browser without a detector, and a camera that sees nothing but noise until a QR code is held up to it. */
async function standInForCamera({ page, context }: BrowserDevice): Promise<void> {
  await context.addInitScript(() => {
    Reflect.deleteProperty(window, 'BarcodeDetector');
    window.streams = [];
    window.looks = 0;
    window.held = [];
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (...sent: unknown[]) {
      window.looks++;
      Reflect.apply(post, this, sent);
    };
    navigator.mediaDevices.getUserMedia = async () => {
      const context = Object.assign(document.createElement('canvas'), { width: 640, height: 480 }).getContext('2d');
      if (!context) throw new Error('no canvas');
      setInterval(() => draw(context), 100);
      const stream = context.canvas.captureStream();
      window.streams.push(stream);
      return stream;
    };
    /** Slightly tilted, on a background that is not plain. */
    function draw(context: CanvasRenderingContext2D): void {
      context.setTransform(1, 0, 0, 1, 0, 0);
      for (let y = 0; y < 480; y += 16) {
        context.fillStyle = `hsl(${(y * 7 + performance.now()) % 360} 40% 60%)`;
        context.fillRect(0, y, 640, 16);
      }
      const size = 320 / (window.held.length + 8);
      context.setTransform(0.98, 0.12, -0.1, 0.98, 170, 70);
      context.fillStyle = 'white';
      if (window.held.length > 0) context.fillRect(0, 0, 320, 320);
      context.fillStyle = 'black';
      for (const [y, row] of window.held.entries()) {
        for (const [x, isDark] of row.entries()) {
          if (isDark) context.fillRect((x + 4) * size, (y + 4) * size, size + 0.5, size + 0.5);
        }
      }
    }
  });
  await page.goto('/');
}

async function showToCamera(page: Page, text: string): Promise<void> {
  const { data } = encode(text, { border: 0 });
  await page.evaluate((modules) => {
    window.held = modules;
  }, data);
}

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
      static async getSupportedFormats() {
        return ['qr_code'];
      }
      async detect(source: CanvasImageSource) {
        new OffscreenCanvas(8, 8).getContext('2d')?.drawImage(source, 0, 0);
        window.looks++;
        return window.inView.map((rawValue) => ({ rawValue }));
      }
    }
    Object.assign(window, { BarcodeDetector: Detector });
  });
  await page.goto('/');
}

async function assertCameraIsOff({ page }: BrowserDevice): Promise<void> {
  await eventually('the camera is off', () =>
    page.evaluate(() => window.streams.flatMap((s) => s.getTracks()).every(({ readyState }) => readyState === 'ended')),
  );
}
