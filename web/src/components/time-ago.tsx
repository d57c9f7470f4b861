/** Times in the past, in the active language: "5 minutes ago". */
import { t } from '../i18n/all-strings.ts';
import { language, largestUnit } from '../i18n/strings.ts';
import { useServerNow } from './countdown.tsx';

/** By the server's clock. `at` is a timestamp of the server. */
export function TimeAgo({ at }: { at: string }) {
  const ms = useServerNow() - Date.parse(at);
  return (
    <time class="time-ago" dateTime={at} title={dateAndTime(new Date(at))}>
      {ms < 60_000 ? t('justNow') : timeAgo(ms)}
    </time>
  );
}

export function timeAgo(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [unit, length] = largestUnit((length) => seconds >= length);
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' });
  return format.format(-Math.floor(seconds / length), unit);
}

/** "16 Nov, 09:30:12". */
export function dateAndTime(date: Date): string {
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  // With the browser's region, if known: English has a 12-hour clock in the US and a 24-hour clock in the UK.
  const tag = navigator.languages.find((tag) => tag.startsWith(`${language.value}-`)) ?? language.value;
  return date.toLocaleString(tag, { month: 'short', day: 'numeric', ...time });
}
