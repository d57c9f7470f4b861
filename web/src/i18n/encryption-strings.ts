/** The strings for encrypted rooms. They are loaded with their views, which keeps other rooms small. */
import { effect, signal } from '@preact/signals';
import { type EncryptionStrings, strings as english } from './encryption/en.ts';
import { language } from './index.ts';
import type { Language } from './languages.ts';
import { format } from './translation.ts';

type Loaded = { strings: EncryptionStrings };

const loaders: Record<Exclude<Language, 'en'>, () => Promise<Loaded>> = {
  ar: () => import('./encryption/ar.ts'),
  de: () => import('./encryption/de.ts'),
  es: () => import('./encryption/es.ts'),
  fr: () => import('./encryption/fr.ts'),
  hi: () => import('./encryption/hi.ts'),
  id: () => import('./encryption/id.ts'),
  it: () => import('./encryption/it.ts'),
  ja: () => import('./encryption/ja.ts'),
  ko: () => import('./encryption/ko.ts'),
  pl: () => import('./encryption/pl.ts'),
  pt: () => import('./encryption/pt.ts'),
  ru: () => import('./encryption/ru.ts'),
  tr: () => import('./encryption/tr.ts'),
  uk: () => import('./encryption/uk.ts'),
  zh: () => import('./encryption/zh.ts'),
};

const loaded = signal<Partial<Record<Language, EncryptionStrings>>>({ en: english });

/** Like `t` for these strings. In English until those of the language are loaded. */
export function encryptionText(key: keyof EncryptionStrings, values: Record<string, string | number> = {}): string {
  const table = loaded.value[language.value];
  return format((table ?? english)[key], table ? language.value : 'en', values);
}

/** Loads the strings of a language. If that fails, they stay English. */
async function load(requested: Language): Promise<void> {
  if (requested === 'en' || loaded.peek()[requested]) return;
  const strings = await loaders[requested]().then(
    (module) => module.strings,
    () => undefined,
  );
  if (strings) loaded.value = { ...loaded.peek(), [requested]: strings };
}

/** Resolves when the strings of the current language are loaded. */
export const loadEncryptionStrings = (): Promise<void> => load(language.peek());

effect(() => void load(language.value));
