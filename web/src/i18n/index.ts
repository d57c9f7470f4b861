/** The page's translations: picks the language of the browser or the one chosen in the settings. */
import { computed, effect, signal } from '@preact/signals';
import { persistedSignal } from '../device/preferences.ts';
import { isOneOf } from '../device/storage.ts';
import type { strings } from './strings.ts';
import { strings as english } from './strings.ts?language=en';

export const languages = { en: 'English', zh: '中文', es: 'Español', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

export const chosenLanguage = persistedSignal<Language | 'auto'>(
  'language',
  'auto',
  isOneOf(['auto', 'en', 'zh', 'es', 'de']),
);

const requestedLanguage = computed<Language>(() =>
  chosenLanguage.value === 'auto' ? matchLanguage(navigator.languages) : chosenLanguage.value,
);

export type StringKey = keyof typeof strings;
type StringTable = Record<StringKey, string>;

/** The language on screen. It follows the requested one as soon as its strings are loaded. */
const active = signal<{ language: Language; table: StringTable }>({ language: 'en', table: english });

export const language = computed<Language>(() => active.value.language);

/** The string in the active language, with each `{name}` replaced by its value. */
export function t(key: StringKey, values: Record<string, string | number> = {}): string {
  return active.value.table[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** English is part of the first view; the page loads another language only when it is requested. */
const loaders: Record<Language, () => Promise<{ strings: StringTable }> | { strings: StringTable }> = {
  en: () => ({ strings: english }),
  zh: () => import('./strings.ts?language=zh'),
  es: () => import('./strings.ts?language=es'),
  de: () => import('./strings.ts?language=de'),
};

/** Resolves when the strings of the requested language are loaded, then follows the settings. */
export async function applyLanguage(): Promise<void> {
  await activate(requestedLanguage.value);
  effect(() => {
    void activate(requestedLanguage.value);
  });
}

/** If the strings cannot be loaded, the page keeps its current language. */
async function activate(language: Language): Promise<void> {
  try {
    const { strings: table } = await loaders[language]();
    if (language === requestedLanguage.peek()) active.value = { language, table };
  } catch {}
  document.documentElement.lang = active.peek().language;
}

function matchLanguage(tags: readonly string[]): Language {
  const known = tags.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => Object.hasOwn(languages, tag));
  return (known as Language | undefined) ?? 'en';
}
