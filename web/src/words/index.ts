/** The words of the page, in the language of this device or the one that was chosen. */
import { computed, effect } from '@preact/signals';
import { remembered } from '../device/preferences.ts';
import { strings } from './strings.ts';

export const languages = { en: 'English', zh: '中文', es: 'Español', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

export const chosenLanguage = remembered<Language | 'auto'>('language', 'auto');

export const language = computed<Language>(() =>
  chosenLanguage.value === 'auto' ? preferred(navigator.languages) : chosenLanguage.value,
);

export type Words = keyof typeof strings;

export function t(words: Words, values: Record<string, string | number> = {}): string {
  return strings[words][language.value].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

export function applyLanguage(): void {
  effect(() => {
    document.documentElement.lang = language.value;
  });
}

function preferred(wanted: readonly string[]): Language {
  const known = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in languages);
  return (known as Language | undefined) ?? 'en';
}
