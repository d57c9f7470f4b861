/** What the operator of the server has to say on every view. */
import { Icon } from '../components/icon.tsx';
import { t } from '../i18n/all-strings.ts';
import { exactTime, size } from '../i18n/quantities.ts';
import { limits } from '../page-settings.ts';
import '../style/server-notes.css';

/** On a public demonstration. */
export function DemoBanner() {
  return (
    <p class="alert demo-banner" role="note">
      <Icon name="clock" />
      <span>{t('demoBanner', { time: exactTime(limits.roomMaxTtl), size: size(limits.fileMax) })}</span>
    </p>
  );
}
