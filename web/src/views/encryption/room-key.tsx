/** The key of an encrypted room, for people who pass it on. */
import { CopyButton } from '../../components/copy-button.tsx';
import { encryptionText } from '../../i18n/encryption-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import '../../style/encryption.css';

export function RoomKey({ room }: { room: RoomModel }) {
  const key = room.phase.value.attempt.encryption?.key.replace(/.{4}(?=.)/g, '$&-') ?? '';
  return (
    <div class="room-key">
      <p class="aside">{encryptionText('linkHasKey')}</p>
      <p>
        {encryptionText('roomKey')}: <b dir="ltr">{key}</b>
      </p>
      <CopyButton text={key} label={encryptionText('copyKey')} />
    </div>
  );
}
