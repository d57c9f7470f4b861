/** Copies the QR code as a picture, where the browser lets a page copy one. */
import { t } from '../i18n/index.ts';
import { Icon } from './icon.tsx';
import { notify } from './notices.tsx';

const pixelsPerModule = 12;

export function CopyQrButton({ text }: { text: string }) {
  if (typeof ClipboardItem !== 'function' || typeof navigator.clipboard?.write !== 'function') return null;

  async function copy() {
    const item = new ClipboardItem({ 'image/png': pictureOf(text) });
    const done = await navigator.clipboard.write([item]).then(
      () => true,
      () => false,
    );
    notify(done ? t('copied') : t('copyFailed'));
  }

  return (
    <button type="button" class="button" onClick={copy}>
      <Icon name="qr" />
      {t('copyQr')}
    </button>
  );
}

async function pictureOf(text: string): Promise<Blob> {
  const { encode } = await import('uqr');
  const { data: rows, size } = encode(text, { border: 2 });
  const canvas = new OffscreenCanvas(size * pixelsPerModule, size * pixelsPerModule);
  const pen = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  pen.scale(pixelsPerModule, pixelsPerModule);
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, size, size);
  pen.fillStyle = '#000';
  for (const [y, row] of rows.entries()) for (const [x, dark] of row.entries()) if (dark) pen.fillRect(x, y, 1, 1);
  return canvas.convertToBlob({ type: 'image/png' });
}
