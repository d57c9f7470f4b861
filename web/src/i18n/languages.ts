/** The languages of the page, and how their strings are loaded. */
import { strings as english } from './languages/en.ts';
import type { Translation } from './translation.ts';

/** Each language in its own words, in the order of the settings. */
export const languages = { en: 'English', zh: '中文', es: 'Español', de: 'Deutsch' } as const;

export type Language = keyof typeof languages;

export const languageCodes = Object.keys(languages) as Language[];

type Loaded = { strings: Translation };

/** English is part of the first view. The page loads another language only when it is requested. */
export const loaders: Record<Language, () => Loaded | Promise<Loaded>> = {
  en: () => ({ strings: english }),
  zh: () => import('./languages/zh.ts'),
  es: () => import('./languages/es.ts'),
  de: () => import('./languages/de.ts'),
};

/** The first language that the page has; regions and scripts do not matter. */
export function matchLanguage(tags: readonly string[]): Language {
  const known = tags.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => Object.hasOwn(languages, tag));
  return (known as Language | undefined) ?? 'en';
}

/** Languages that are written from right to left. */
const rightToLeft: ReadonlySet<string> = new Set(['ar', 'fa', 'he', 'ur']);

export const directionOf = (language: Language): 'ltr' | 'rtl' => (rightToLeft.has(language) ? 'rtl' : 'ltr');
