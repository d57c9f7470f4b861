/** The key of an encrypted room, for people who pass it on. */
import { CopyButton } from '../../components/copy-button.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import { shareUrl } from '../../router.ts';
import '../../style/encryption.css';

/** `H4T9-WZ3B-NQ6Y-RC88`. */
export const groupKey = (key: string): string => key.replace(/.{4}(?=.)/g, '$&-');

export function RoomKey({ room }: { room: RoomModel }) {
  const key = room.phase.value.attempt.encryption?.key ?? '';
  return (
    <div class="room-key">
      <p class="key-label">{t('roomKey')}</p>
      <p class="key" dir="ltr">
        <span class="visually-hidden">{[...key].join(' ')}</span>
        <b aria-hidden="true">{groupKey(key)}</b>
      </p>
      <CopyButton text={groupKey(key)} label={t('copyKey')} compact />
    </div>
  );
}

const host = (): string => shareUrl.replace(/^https?:\/\//, '');

export const KeyInviteHint = () => <>{t('inviteKeyHint', { host: host() })}</>;

/** A page cannot remove a link from the history of the browser. */
export function KeyAdvice() {
  return (
    <div class="key-advice">
      <p class="aside">{t('linkHasKey')}</p>
      <details>
        <summary>{t('typeKey')}</summary>
        <p class="aside">{t('typeKeyHint', { host: host() })}</p>
      </details>
    </div>
  );
}
