/** Reads QR codes from pictures of the screen, as a camera would. */
import type { Page } from 'playwright-core';
import decodeQr from 'qr/decode.js';

/** The text of the QR code with this label. */
export async function readQr(page: Page, label: string): Promise<string> {
  const drawn = page.getByRole('img', { name: label });
  await drawn.locator('path[d^="M"]').waitFor();
  return decodePicture(page, await drawn.screenshot());
}

/** `picture` is the content of an image file. Bytes and pixels are passed as text, because arrays take seconds. */
export async function decodePicture(page: Page, picture: Uint8Array): Promise<string> {
  const { width, height, pixels } = await page.evaluate(async (file) => {
    const bytes = Uint8Array.from(atob(file), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const { width, height } = bitmap;
    const canvas = new OffscreenCanvas(width, height).getContext('2d') as OffscreenCanvasRenderingContext2D;
    canvas.drawImage(bitmap, 0, 0);
    const { data } = canvas.getImageData(0, 0, width, height);
    // The red part of each pixel.
    const pixels = Array.from({ length: width * height }, (_, i) => ((data[i * 4] ?? 0) > 127 ? '1' : '0')).join('');
    return { width, height, pixels };
  }, Buffer.from(picture).toString('base64'));
  const data = Uint8Array.from({ length: pixels.length * 4 }, (_, i) => Number(pixels[i >> 2]) * 255);
  return decodeQr({ width, height, data });
}
