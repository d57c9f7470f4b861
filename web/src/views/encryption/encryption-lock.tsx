/** A lock that says what the encryption of the room means, and who has its key. */
import { useSignal } from '@preact/signals';
import { Dialog } from '../../components/dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { keepKey, keptKey } from '../../device/room-keys.ts';
import { encryptionText } from '../../i18n/encryption-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import { RoomKey } from './room-key.tsx';
import '../../style/encryption.css';

export function EncryptionLock({ room }: { room: RoomModel }) {
  const isOpen = useSignal(false);
  const title = encryptionText('encrypted');
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
      {isOpen.value && (
        <Dialog
          title={title}
          onClose={() => {
            isOpen.value = false;
          }}
        >
          <p>{encryptionText('encryptedWhat')}</p>
          <p>{encryptionText('encryptedWho')}</p>
          <RoomKey room={room} />
          <KeepKey room={room} />
          <p class="aside">{encryptionText('encryptedLimits')}</p>
        </Dialog>
      )}
    </>
  );
}

function KeepKey({ room }: { room: RoomModel }) {
  const isKept = useSignal(keptKey(room.code) !== undefined);
  return (
    <div>
      <label class="check">
        <input
          type="checkbox"
          checked={isKept.value}
          aria-describedby="keep-key-hint"
          onChange={({ currentTarget: { checked } }) => {
            isKept.value = checked;
            keepKey(room.code, checked ? room.phase.peek().attempt.encryption?.key : undefined);
          }}
        />
        <span>{encryptionText('keepKey')}</span>
      </label>
      <p class="aside" id="keep-key-hint">
        {encryptionText('keepKeyHint')}
      </p>
    </div>
  );
}
