/** A lock that says what the encryption of the room means, and who has its key. */
import { useSignal } from '@preact/signals';
import { Dialog } from '../../components/dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import { KeepKey, KeyGuard } from './keep-key.tsx';
import { KeyAdvice, RoomKey } from './room-key.tsx';
import '../../style/encryption.css';

export function EncryptionLock({ room }: { room: RoomModel }) {
  const isOpen = useSignal(false);
  const title = t('encrypted');
  return (
    <>
      <button
        type="button"
        class="button round encryption-lock"
        aria-label={title}
        title={title}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        <Icon name="lock" />
      </button>
      <KeyGuard room={room} />
      {isOpen.value && (
        <Dialog
          title={title}
          onClose={() => {
            isOpen.value = false;
          }}
        >
          <p>{t('encryptedWhat')}</p>
          <p>{t('encryptedWho')}</p>
          <RoomKey room={room} />
          <KeyAdvice />
          <KeepKey room={room} />
          <p class="aside">{t('encryptedLimits')}</p>
        </Dialog>
      )}
    </>
  );
}
