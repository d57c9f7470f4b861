/** Reads QR codes from pictures of the screen, as a camera would. */
import type { Page } from 'playwright-core';
import decodeQr from 'qr/decode.js';

/** The text of the QR code with this label. */
export async function readQr(page: Page, label: string): Promise<string> {
  const drawn = page.getByRole('img', { name: label });
  await drawn.locator('path[d^="M"]').waitFor();
  return decodePicture(page, [...(await drawn.screenshot())]);
}

/** `picture` is the content of an image file. */
export async function decodePicture(page: Page, picture: number[]): Promise<string> {
  const { width, height, pixels } = await page.evaluate(async (bytes) => {
    const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
    const { width, height } = bitmap;
    const canvas = new OffscreenCanvas(width, height).getContext('2d') as OffscreenCanvasRenderingContext2D;
    canvas.drawImage(bitmap, 0, 0);
    return { width, height, pixels: [...canvas.getImageData(0, 0, width, height).data] };
  }, picture);
  return decodeQr({ width, height, data: Uint8Array.from(pixels) });
}
