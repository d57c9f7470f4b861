/** A QR code, drawn as one SVG path. The encoder is loaded on first use. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export function QrCode({ text, label }: { text: string; label: string }) {
  const modules = useSignal<boolean[][]>([]);
  useEffect(() => {
    import('uqr').then(
      ({ encode }) => {
        modules.value = encode(text, { border: 2 }).data;
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

function toPath(rows: boolean[][]): string {
  return rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
}
