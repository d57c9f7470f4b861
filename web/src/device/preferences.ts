/** How the page looks on this device. */
import { effect, signal } from '@preact/signals';
import { lasting } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme = remembered<Theme>('theme', 'system');
export const monospace = remembered('monospace', false);

export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function remembered<T>(key: string, initial: T) {
  const value = signal<T>(lasting.get<T>(key) ?? initial);
  let first = true;
  effect(() => {
    const now = value.value;
    if (!first) lasting.set(key, now);
    first = false;
  });
  return value;
}
