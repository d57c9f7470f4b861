/** A QR code, drawn as one SVG path, and a button that copies it. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { CopyButton, canCopyImages } from './copy-button.tsx';

export function QrCode({ text, label }: { text: string; label: string }) {
  const modules = useSignal<boolean[][]>([]);
  useEffect(() => {
    encodeQr(text).then(
      (rows) => {
        modules.value = rows;
      },
      // If the encoder cannot be loaded, the QR code stays empty. The code and the link are next to it.
      () => undefined,
    );
  }, [text]);

  const side = modules.value.length || 29;
  return (
    <svg class="qr" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={label}>
      <path d={toPath(modules.value)} />
    </svg>
  );
}

/** The rows of modules, true for dark ones, with a border. The encoder is loaded on first use. */
async function encodeQr(text: string): Promise<boolean[][]> {
  const { encode } = await import('uqr');
  return encode(text, { border: 2 }).data;
}

function toPath(rows: boolean[][]): string {
  return rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
}

const pixelsPerModule = 12;

/** A button that copies the QR code as an image, in browsers that support it. */
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
