/** The words of the page, in the language of this device or the one that was chosen. */
import { computed, effect, signal } from '@preact/signals';
import { remembered } from '../device/preferences.ts';
import { isOneOf } from '../device/storage.ts';
import type { strings } from './strings.ts';
import { strings as english } from './strings.ts?language=en';

export const languages = { en: 'English', zh: '中文', es: 'Español', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

export const chosenLanguage = remembered<Language | 'auto'>(
  'language',
  'auto',
  isOneOf(['auto', 'en', 'zh', 'es', 'de']),
);

const wanted = computed<Language>(() =>
  chosenLanguage.value === 'auto' ? preferred(navigator.languages) : chosenLanguage.value,
);

export type Words = keyof typeof strings;
type Table = Record<Words, string>;

/** The one that is spoken: the one that is wanted, as soon as its words are there. */
const spoken = signal<{ language: Language; table: Table }>({ language: 'en', table: english });

export const language = computed<Language>(() => spoken.value.language);

export function t(words: Words, values: Record<string, string | number> = {}): string {
  return spoken.value.table[words].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** Of the other languages, only the one that is wanted is loaded. */
const loaders: Record<Language, () => Promise<{ strings: Table }> | { strings: Table }> = {
  en: () => ({ strings: english }),
  zh: () => import('./strings.ts?language=zh'),
  es: () => import('./strings.ts?language=es'),
  de: () => import('./strings.ts?language=de'),
};

/** Resolves when there are words to show. */
export async function applyLanguage(): Promise<void> {
  await speak(wanted.value);
  effect(() => {
    void speak(wanted.value);
  });
}

/** Where the words cannot be had, the page goes on in the language it has. */
async function speak(language: Language): Promise<void> {
  try {
    const { strings: table } = await loaders[language]();
    if (language === wanted.peek()) spoken.value = { language, table };
  } catch {}
  document.documentElement.lang = spoken.peek().language;
}

function preferred(tags: readonly string[]): Language {
  const known = tags.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => Object.hasOwn(languages, tag));
  return (known as Language | undefined) ?? 'en';
}
