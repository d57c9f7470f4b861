/** A button that copies the QR code as an image, in browsers that support it. */
import { t } from '../i18n/index.ts';
import { Icon } from './icon.tsx';
import { notify } from './notices.tsx';
import { encodeQr } from './qr-code.tsx';

const pixelsPerModule = 12;

export function CopyQrButton({ text }: { text: string }) {
  if (typeof ClipboardItem !== 'function' || typeof navigator.clipboard?.write !== 'function') return null;

  async function onClick() {
    const item = new ClipboardItem({ 'image/png': drawQr(text) });
    const isCopied = await navigator.clipboard.write([item]).then(
      () => true,
      () => false,
    );
    notify(isCopied ? t('copied') : t('copyFailed'));
  }

  return (
    <button type="button" class="button" onClick={onClick}>
      <Icon name="qr" />
      {t('copyQr')}
    </button>
  );
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
