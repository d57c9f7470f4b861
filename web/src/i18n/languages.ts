/** The languages of the page, and how their strings are loaded. */
import type { Translation } from './translation.ts';

/** English is part of the page. It loads another language only when it is requested. */
export const loaders = {
  id: () => import('./languages/id.json', { with: { type: 'json' } }),
  de: () => import('./languages/de.json', { with: { type: 'json' } }),
  es: () => import('./languages/es.json', { with: { type: 'json' } }),
  fr: () => import('./languages/fr.json', { with: { type: 'json' } }),
  it: () => import('./languages/it.json', { with: { type: 'json' } }),
  pl: () => import('./languages/pl.json', { with: { type: 'json' } }),
  pt: () => import('./languages/pt.json', { with: { type: 'json' } }),
  tr: () => import('./languages/tr.json', { with: { type: 'json' } }),
  ru: () => import('./languages/ru.json', { with: { type: 'json' } }),
  uk: () => import('./languages/uk.json', { with: { type: 'json' } }),
  ar: () => import('./languages/ar.json', { with: { type: 'json' } }),
  hi: () => import('./languages/hi.json', { with: { type: 'json' } }),
  zh: () => import('./languages/zh.json', { with: { type: 'json' } }),
  ja: () => import('./languages/ja.json', { with: { type: 'json' } }),
  ko: () => import('./languages/ko.json', { with: { type: 'json' } }),
} satisfies Record<string, () => Promise<{ default: Translation }>>;

export type Language = 'en' | keyof typeof loaders;

export const languageCodes = ['en', ...Object.keys(loaders)] as Language[];

/** The first language that the page has; regions and scripts do not matter. */
export const matchLanguage = (tags: readonly string[]): Language =>
  tags.map(codeIn).find((code) => languageCodes.includes(code)) ?? 'en';

/** Some systems still report the former code of Indonesian. */
const codeIn = (tag: string) =>
  tag
    .toLowerCase()
    .replace(/[-_].*/, '')
    .replace(/^in$/, 'id') as Language;
