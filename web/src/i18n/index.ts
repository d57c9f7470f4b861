/** The page's translations: picks the language of the browser or the one chosen in the settings. */
import { computed, effect, signal } from '@preact/signals';
import { persistedSignal } from '../device/preferences.ts';
import { isOneOf } from '../device/storage.ts';
import { directionOf } from './direction.ts';
import { strings as english } from './languages/en.ts';
import { type Language, languageCodes, loaders, matchLanguage } from './languages.ts';
import { format, type StringKey, type Translation } from './translation.ts';

export type { Language } from './languages.ts';
export type { StringKey } from './translation.ts';

export const chosenLanguage = persistedSignal<Language | 'auto'>(
  'language',
  'auto',
  isOneOf(['auto', ...languageCodes]),
);

const requestedLanguage = computed<Language>(() =>
  chosenLanguage.value === 'auto' ? matchLanguage(navigator.languages) : chosenLanguage.value,
);

/** The language on screen. It follows the requested one as soon as its strings are loaded. */
const active = signal<{ language: Language; table: Translation }>({ language: 'en', table: english });

export const language = computed<Language>(() => active.value.language);

/** The string in the active language, with each `{name}` replaced by its value. `n` selects the plural form. */
export function t(key: StringKey, values: Record<string, string | number> = {}): string {
  const { language, table } = active.value;
  return format(table[key], language, values);
}

/** Resolves when the strings of the requested language are loaded, then follows the settings. */
export async function applyLanguage(): Promise<void> {
  await activate(requestedLanguage.value);
  effect(() => {
    void activate(requestedLanguage.value);
  });
}

/** If the strings cannot be loaded, the page keeps its current language. */
async function activate(requested: Language): Promise<void> {
  try {
    const { strings: table } = await loaders[requested]();
    if (requested === requestedLanguage.peek()) active.value = { language: requested, table };
  } catch {}
  const { documentElement } = document;
  documentElement.lang = language.peek();
  documentElement.dir = directionOf(language.peek());
}
