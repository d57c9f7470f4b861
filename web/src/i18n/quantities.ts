/** Formats sizes and times for the active language, and reads digits of other scripts. */
import { language, t } from './strings.ts';

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
  return seconds < 36 * hour
    ? duration(Math.round(seconds / hour), 'hour', length)
    : duration(Math.round(seconds / day), 'day', length);
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
