/** A button that copies the QR code as an image, in browsers that support it. */
import { t } from '../i18n/index.ts';
import { Icon } from './icon.tsx';
import { notify } from './notices.tsx';

const pixelsPerModule = 12;

export function CopyQrButton({ text }: { text: string }) {
  if (typeof ClipboardItem !== 'function' || typeof navigator.clipboard?.write !== 'function') return null;

  async function copy() {
    const item = new ClipboardItem({ 'image/png': drawQr(text) });
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

async function drawQr(text: string): Promise<Blob> {
  const { encode } = await import('uqr');
  const { data: rows, size } = encode(text, { border: 2 });
  const canvas = new OffscreenCanvas(size * pixelsPerModule, size * pixelsPerModule);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.scale(pixelsPerModule, pixelsPerModule);
  context.fillStyle = '#fff';
  context.fillRect(0, 0, size, size);
  context.fillStyle = '#000';
  for (const [y, row] of rows.entries()) for (const [x, dark] of row.entries()) if (dark) context.fillRect(x, y, 1, 1);
  return canvas.convertToBlob({ type: 'image/png' });
}
