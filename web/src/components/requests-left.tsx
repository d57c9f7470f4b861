/** Says how many requests are left, when they are about to run out. */

import { roughTime } from '../i18n/quantities.ts';
import { t } from '../i18n/strings.ts';
import { requestLimit } from '../room/request-limit.ts';
import { useNow } from './countdown.tsx';

const shownBelow = 0.1;

export function RequestsLeft() {
  const now = useNow();
  const { limit = 0, remaining: n = 0, resetAt } = requestLimit.value ?? {};
  const ms = (resetAt?.getTime() ?? 0) - now;
  if (n === 0 || n > limit * shownBelow || ms <= 0) return null;
  return <p class="aside requests-left">{t('requestsLeft', { n, time: roughTime(ms) })}</p>;
}
