/** What the page says, in the language of the browser or the one in the settings: strings, sizes, times and errors. */
import { computed, effect, signal } from '@preact/signals';
import type { PoproomError } from '../../../src/client/error.ts';
import { persistedSignal } from '../device/preferences.ts';
import { isOneOf } from '../device/storage.ts';
import { limits } from '../page-settings.ts';
import firstEnglish from './languages/en/first.json' with { type: 'json' };
import { type Language, languageCodes, loaders, matchLanguage } from './languages.ts';
import { directionOf, type FirstKey, format, type StringKey, type Translation, type Values } from './translation.ts';

const isChoice = isOneOf<Language | 'auto'>(['auto', ...languageCodes]);
export const chosenLanguage = persistedSignal('language', 'auto', isChoice);

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

export const addEnglish = (strings: Partial<Omit<Translation, FirstKey>>): void => void Object.assign(english, strings);

/** Resolves when the strings of the requested language are loaded, then follows the settings. */
export async function applyLanguage(): Promise<void> {
  await activate(requestedLanguage.value);
  effect(() => void activate(requestedLanguage.value));
}

/** If the strings cannot be loaded, the page keeps its current language. */
async function activate(requested: Language): Promise<void> {
  try {
    const table = requested === 'en' ? english : (await loaders[requested]()).default;
    if (requested === requestedLanguage.peek()) active.value = { language: requested, table };
  } catch {}
  const lang = language.peek();
  Object.assign(document.documentElement, { lang, dir: directionOf(lang) });
}

/** "3.4 MB". One MB is 1,024 kB here, so that a limit of 10 MiB reads as 10 MB. */
export function size(bytes: number): string {
  const step = [1, 1024, 1024 ** 2].filter((unit) => bytes >= 1000 * unit).length;
  const unit = (['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const)[step] as string;
  const maximumFractionDigits = step < 2 ? 0 : 1;
  // The short English form has no plural: "5 byte".
  const unitDisplay = step === 0 ? 'long' : 'short';
  const format = new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay, maximumFractionDigits });
  return format.format(bytes / 1024 ** step);
}

/** "41%", rounded down, so that 100% means all. */
export const percent = (share: number): string =>
  new Intl.NumberFormat(language.value, { style: 'percent' }).format(Math.floor(share * 100) / 100);

/** "23 hr left". Nobody counts the days of a room that lasts longer than a month. */
export const timeLeft = (ms: number, format: (ms: number) => string = countdownTime): string =>
  ms > 30 * day * 1000 ? t('notSoon') : t('timeLeft', { time: format(ms) });

/** "23 hr", and in the last ten minutes "9:59". */
function countdownTime(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds > 10 * minute) return roughTime(ms, 'short');
  return `${Math.floor(seconds / minute)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Rounded to one unit: "30 seconds", "5 minutes". */
export function roughTime(ms: number, length: UnitLength = 'long'): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 90) return duration(seconds, 'second', length);
  if (seconds < 90 * minute) return duration(Math.ceil(seconds / minute), 'minute', length);
  if (seconds < 36 * hour) return duration(Math.round(seconds / hour), 'hour', length);
  return duration(Math.round(seconds / day), 'day', length);
}

/** Exact, in the largest unit that divides it: "1 day", "90 minutes". */
export function exactTime(seconds: number): string {
  const [unit, length] = largestUnit((length) => seconds % length === 0);
  return duration(seconds / length, unit);
}

const [minute, hour, day] = [60, 3_600, 86_400] as const;
const second = ['second', 1] as const;
const units = [['day', day], ['hour', hour], ['minute', minute], second] as const;

/** The largest unit whose length in seconds fits. */
export const largestUnit = (fits: (length: number) => boolean) => units.find(([, length]) => fits(length)) ?? second;

type UnitLength = 'long' | 'short';

function duration(amount: number, unit: (typeof units)[number][0], unitDisplay: UnitLength = 'long'): string {
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay }).format(amount);
}

/** "٤٢" and "４２" as "42". */
export const toAsciiDigits = (text: string): string =>
  text.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) as number)));

/** Unicode lists the digits of each script from zero to nine, after something that is not a digit. */
function digitValue(codePoint: number): number {
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(codePoint - value - 1))) value++;
  return value;
}

/** For people, by the code. `ms`: the time left until a retry can succeed, where the caller counts it down. */
export function errorMessage(error: PoproomError, ms = (error.retryAfter ?? 60) * 1000): string {
  const time = roughTime(ms);
  switch (error.code) {
    case 'RATE_LIMITED':
      return t(limitKeys[String(error.details.reason)] ?? 'limitRequests', { time });
    case 'OFFLINE':
      return t(error.details.reason === 'code' ? 'loadFailed' : 'errorOffline');
    case 'FILE_TOO_LARGE':
      return t('errorFileTooLarge', { size: size(Number(error.details.maximum ?? limits.fileMax)) });
    case 'ROOM_FULL':
      return roomFullMessage(error.details);
  }
  const key = messageKeys[error.code];
  return key ? t(key, { time, size: size(limits.contentMax) }) : error.message;
}

function roomFullMessage({ bytesLeft, maximumFiles, maximumBytes }: PoproomError['details']): string {
  if (bytesLeft !== undefined) return t('errorNoSpace', { left: size(Number(bytesLeft)) });
  // The server does not say which of the two limits was reached.
  return maximumBytes === undefined && maximumFiles !== undefined
    ? t('errorTooManyFiles', { n: Number(maximumFiles) })
    : t('errorRoomFull');
}

const limitKeys: Record<string, FirstKey> = {
  misses: 'limitMisses',
  devices: 'limitDevices',
  channels: 'limitChannels',
};

const messageKeys: Partial<Record<PoproomError['code'], FirstKey>> = {
  KEY_LOCKED: 'limitMisses',
  PIN_LOCKED: 'pinLocked',
  CONTENT_TOO_LARGE: 'textTooLong',
  QUOTA_EXCEEDED: 'errorQuota',
  STORAGE_FULL: 'errorStorageFull',
  FILE_NOT_FOUND: 'errorFileDeleted',
  UNAVAILABLE: 'errorServer',
  INTERNAL: 'errorServer',
  INVALID_RESPONSE: 'errorServer',
  ROOM_NOT_FOUND: 'errorNotFound',
  ROOM_EXPIRED: 'roomExpired',
  FILE_CHANGED: 'fileChanged',
  DATA_DAMAGED: 'fileDamaged',
};
