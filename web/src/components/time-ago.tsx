/** "5 minutes ago", by the server's clock. */
import { t } from '../i18n/all-strings.ts';
import { dateAndTime, timeAgo } from '../i18n/quantities.ts';
import { useServerNow } from './countdown.tsx';

const minuteMs = 60_000;

/** `at` is a timestamp of the server. */
export function TimeAgo({ at }: { at: string }) {
  const ms = useServerNow() - Date.parse(at);
  return (
    <time class="time-ago" dateTime={at} title={dateAndTime(new Date(at))}>
      {ms < minuteMs ? t('justNow') : timeAgo(ms)}
    </time>
  );
}
