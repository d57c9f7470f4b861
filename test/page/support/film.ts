/** A film that a browser can play. */
import type { Page } from 'playwright-core';

/** A film of half a second, in changing colours, recorded by this page. */
export async function recordFilm(page: Page): Promise<Buffer> {
  const bytes = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm;codecs=vp8' });
    const recorded = new Promise<Blob>((resolve) => {
      recorder.ondataavailable = ({ data }) => resolve(data);
    });
    recorder.start();
    const paint = setInterval(() => {
      const context = canvas.getContext('2d') as CanvasRenderingContext2D;
      context.fillStyle = `hsl(${performance.now() / 5} 90% 50%)`;
      context.fillRect(0, 0, 64, 48);
    }, 20);
    await new Promise((resolve) => setTimeout(resolve, 500));
    clearInterval(paint);
    recorder.stop();
    return [...new Uint8Array(await (await recorded).arrayBuffer())];
  });
  return Buffer.from(bytes);
}
