/** The text outside of its field: saved as a file, and printed. */
import { useEffect } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/index.ts';

/** "poproom-7KQ2MX-2026-11-16.txt", with the local date. */
export function saveAsFile(code: string, text: string): void {
  const link = document.createElement('a');
  // The Swedish date format is that of ISO 8601.
  link.download = `poproom-${code}-${new Date().toLocaleDateString('sv')}.txt`;
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A field prints only the lines that it shows, so a copy of the whole text takes its place. */
export function usePrintedText(field: { current: HTMLElement | null }, text: SharedText): void {
  useEffect(() => {
    const end = new AbortController();
    const copy = document.createElement('pre');
    copy.className = 'printed-text';
    copy.dir = 'auto';
    const onBeforePrint = () => {
      copy.textContent = text.value;
      field.current?.after(copy);
    };
    addEventListener('beforeprint', onBeforePrint, { signal: end.signal });
    addEventListener('afterprint', () => copy.remove(), { signal: end.signal });
    return () => end.abort();
  }, [text]);
}
