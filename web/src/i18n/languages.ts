/** The languages of the page, and how their strings are loaded. */

/** English is part of the page. It loads another language only when it is requested. */
export const loaders = {
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

export type Language = 'en' | keyof typeof loaders;

export const languageCodes = ['en', ...Object.keys(loaders)] as Language[];

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
