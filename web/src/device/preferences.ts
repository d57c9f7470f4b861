/** Settings of the page that this device stores. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { isBoolean, isOneOf, isRecord, localStore } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme = persistedSignal<Theme>('theme', 'system', isOneOf(['system', 'light', 'dark']));
/** Whether this device shows the carets of others, and its own to them. */
export const showsCarets = persistedSignal('carets', true, isBoolean);
export const monospace = persistedSignal('monospace', false, isBoolean);

/** The colours of the browser's toolbar; keep them in sync with tokens.css. */
const toolbarColors = { light: '#faf7f2', dark: '#161412' };

export function applyTheme(): void {
  const metas = document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]');
  effect(() => {
    const chosen = theme.value;
    document.documentElement.dataset.theme = chosen;
    for (const meta of metas) {
      const scheme = chosen === 'system' ? (meta.media.includes('dark') ? 'dark' : 'light') : chosen;
      meta.content = toolbarColors[scheme];
    }
  });
}

/** A signal whose changes are written to localStorage, and from there reach the other tabs. */
export function persistedSignal<T>(key: string, initial: T, isValid: (value: unknown) => value is T) {
  const value = signal<T>(localStore.get(key, isValid) ?? initial);
  onChange(value, (now) => localStore.set(key, now));
  localStore.onChange(key, () => (value.value = localStore.get(key, isValid) ?? initial));
  return value;
}

/** Calls back with each later value, until the returned function is called. */
export function onChange<T>(values: ReadonlySignal<T>, listen: (value: T) => void): () => void {
  let isFirst = true;
  return values.subscribe((value) => {
    if (!isFirst) listen(value);
    isFirst = false;
  });
}

/** The headers with the API key or the token for a private server that this device keeps; see `views/access.tsx`. */
export const keptAccess = () => localStore.get('access', isRecord);

/** Undefined forgets them. */
export const keepAccess = (headers: Record<string, string> | undefined): void =>
  localStore.set('access', headers && { ...keptAccess(), ...headers });
