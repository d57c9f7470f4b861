/** A QR code, drawn as one SVG path. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export function QrCode({ text, label }: { text: string; label: string }) {
  const modules = useSignal<boolean[][]>([]);
  useEffect(() => {
    encodeQr(text).then(
      (rows) => (modules.value = rows),
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
export async function encodeQr(text: string): Promise<boolean[][]> {
  const { encode } = await import('uqr');
  return encode(text, { border: 2 }).data;
}

function toPath(rows: boolean[][]): string {
  return rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
}
