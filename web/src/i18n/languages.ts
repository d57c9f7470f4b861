/** The languages of the page, and how their strings are loaded. */
import { strings as english } from './languages/en.ts';
import type { Translation } from './translation.ts';

/** Each language in its own words, in the order of the settings: English, then by name. */
export const languages = {
  en: 'English',
  id: 'Bahasa Indonesia',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  pl: 'Polski',
  pt: 'Português (Brasil)',
  tr: 'Türkçe',
  ru: 'Русский',
  uk: 'Українська',
  ar: 'العربية',
  hi: 'हिन्दी',
  zh: '中文',
  ja: '日本語',
  ko: '한국어',
} as const;

export type Language = keyof typeof languages;

export const languageCodes = Object.keys(languages) as Language[];

type Loaded = { strings: Translation };

/** English is part of the first view. The page loads another language only when it is requested. */
export const loaders: Record<Language, () => Loaded | Promise<Loaded>> = {
  en: () => ({ strings: english }),
  id: () => import('./languages/id.ts'),
  de: () => import('./languages/de.ts'),
  es: () => import('./languages/es.ts'),
  fr: () => import('./languages/fr.ts'),
  it: () => import('./languages/it.ts'),
  pl: () => import('./languages/pl.ts'),
  pt: () => import('./languages/pt.ts'),
  tr: () => import('./languages/tr.ts'),
  ru: () => import('./languages/ru.ts'),
  uk: () => import('./languages/uk.ts'),
  ar: () => import('./languages/ar.ts'),
  hi: () => import('./languages/hi.ts'),
  zh: () => import('./languages/zh.ts'),
  ja: () => import('./languages/ja.ts'),
  ko: () => import('./languages/ko.ts'),
};

/** The first language that the page has; regions and scripts do not matter. */
export function matchLanguage(tags: readonly string[]): Language {
  return tags.map(languageOf).find((language) => language !== undefined) ?? 'en';
}

function languageOf(tag: string): Language | undefined {
  const [code = ''] = tag.toLowerCase().split(/[-_]/);
  const current = formerCodes[code] ?? code;
  return languageCodes.find((language) => language === current);
}

/** Codes that some systems still report. */
const formerCodes: Record<string, Language> = { in: 'id' };
