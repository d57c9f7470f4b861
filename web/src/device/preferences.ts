/** How the page looks on this device. */
import { effect, signal } from '@preact/signals';
import { isOneOf, isSwitch, lasting } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme = remembered<Theme>('theme', 'system', isOneOf(['system', 'light', 'dark']));
export const monospace = remembered('monospace', false, isSwitch);

/** The colours of the browser's own frame, as in tokens.css. */
const frame = { light: '#faf7f2', dark: '#161412' };

export function applyTheme(): void {
  const metas = document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]');
  effect(() => {
    const chosen = theme.value;
    document.documentElement.dataset.theme = chosen;
    for (const meta of metas) {
      const scheme = chosen === 'system' ? (meta.media.includes('dark') ? 'dark' : 'light') : chosen;
      meta.content = frame[scheme];
    }
  });
}

export function remembered<T>(key: string, initial: T, isExpected: (value: unknown) => value is T) {
  const value = signal<T>(lasting.get(key, isExpected) ?? initial);
  let first = true;
  effect(() => {
    const now = value.value;
    if (!first) lasting.set(key, now);
    first = false;
  });
  return value;
}
