/** Warns that the room expires soon, until the user extends it or dismisses the warning. */
import { Countdown } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { clockOffset } from '../../device/clock.ts';
import { t } from '../../i18n/index.ts';
import { roughTime } from '../../i18n/quantities.ts';

interface Props {
  expiresAt: number;
  onExtend: () => void;
  onDismiss: () => void;
}

export function ExpiryAlert({ expiresAt, onExtend, onDismiss }: Props) {
  return (
    <p class="alert warning">
      <Icon name="clock" />
      <span>
        <Countdown until={expiresAt + clockOffset.value} format={(ms) => t('roomExpiresIn', { time: roughTime(ms) })} />
      </span>
      <button type="button" class="button" onClick={onExtend}>
        {t('extend')}
      </button>
      <button type="button" class="button round" aria-label={t('close')} onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </p>
  );
}
