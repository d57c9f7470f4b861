/** A button that copies the QR code as an image, in browsers that support it. */
import { t } from '../i18n/strings.ts';
import { canCopyImages } from './clipboard.ts';
import { CopyButton } from './copy-button.tsx';
import { encodeQr } from './qr-code.tsx';

const pixelsPerModule = 12;

export function CopyQrButton({ text }: { text: string }) {
  return canCopyImages() ? <CopyButton png={() => drawQr(text)} label={t('copyQr')} icon="qr" /> : null;
}

async function drawQr(text: string): Promise<Blob> {
  const rows = await encodeQr(text);
  const size = rows.length;
  const canvas = new OffscreenCanvas(size * pixelsPerModule, size * pixelsPerModule);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.scale(pixelsPerModule, pixelsPerModule);
  context.fillStyle = '#fff';
  context.fillRect(0, 0, size, size);
  context.fillStyle = '#000';
  for (const [y, row] of rows.entries()) for (const [x, dark] of row.entries()) if (dark) context.fillRect(x, y, 1, 1);
  return canvas.convertToBlob({ type: 'image/png' });
}
