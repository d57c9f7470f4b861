/** The names of the languages, for the settings. */
import type { Language } from './languages.ts';

/** Each language in its own words, in the order of the settings: English, then by name. */
export const languages: Record<Language, string> = {
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
};
