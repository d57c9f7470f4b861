/** The page's strings in the language of the browser, or in the one chosen in the settings. */
import { computed, effect, signal } from '@preact/signals';
import { persistedSignal } from '../device/preferences.ts';
import { isOneOf } from '../device/storage.ts';
import firstEnglish from './languages/en/first.json' with { type: 'json' };
import { type Language, languageCodes, loaders, matchLanguage } from './languages.ts';
import { directionOf, type FirstKey, format, type StringKey, type Translation, type Values } from './translation.ts';

export const chosenLanguage = persistedSignal<Language | 'auto'>(
  'language',
  'auto',
  isOneOf(['auto', ...languageCodes]),
);

const requestedLanguage = computed<Language>(() =>
  chosenLanguage.value === 'auto' ? matchLanguage(navigator.languages) : chosenLanguage.value,
);

/** The strings of the first view, until `all-strings.ts` adds the others. */
const english = { ...firstEnglish } as Translation;

/** The language on screen. It follows the requested one as soon as its strings are loaded. */
const active = signal<{ language: Language; table: Translation }>({ language: 'en', table: english });

export const language = computed<Language>(() => active.value.language);

/**
 * The string in the active language, with each `{name}` replaced by its value. `n` selects the plural form. Parts that
 * are loaded on demand have more strings with the `t` of `all-strings.ts`.
 */
export const t = (key: FirstKey, values?: Values): string => translate(key, values);

/** `t` without a check that the string is loaded. */
export function translate(key: StringKey, values: Values = {}): string {
  const { language, table } = active.value;
  return format(table[key], language, values);
}

export function addEnglish(strings: Partial<Omit<Translation, FirstKey>>): void {
  Object.assign(english, strings);
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
    const table = requested === 'en' ? english : (await loaders[requested]()).default;
    if (requested === requestedLanguage.peek()) active.value = { language: requested, table };
  } catch {}
  const { documentElement } = document;
  documentElement.lang = language.peek();
  documentElement.dir = directionOf(language.peek());
}
