/** A film that a browser can play. */
import type { Page } from 'playwright-core';

/** A film of half a second, in changing colours, recorded by this page. */
export async function recordFilm(page: Page): Promise<Buffer> {
  const bytes = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm;codecs=vp8' });
    const parts: Blob[] = [];
    const isRecorded = new Promise<void>((resolve) => {
      recorder.ondataavailable = ({ data }) => {
        if (data.size > 0) parts.push(data);
        if (parts.length === 5) resolve();
      };
    });
    const hasStopped = new Promise((resolve) => recorder.addEventListener('stop', resolve));
    recorder.start(100);
    const paint = setInterval(() => {
      const context = canvas.getContext('2d') as CanvasRenderingContext2D;
      context.fillStyle = `hsl(${performance.now() / 5} 90% 50%)`;
      context.fillRect(0, 0, 64, 48);
    }, 20);
    await isRecorded;
    clearInterval(paint);
    recorder.stop();
    await hasStopped;
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
  });
  return Buffer.from(bytes);
}
