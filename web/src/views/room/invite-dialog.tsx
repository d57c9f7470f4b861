/** The invitation on the whole screen, to show it to people around. */
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room.ts';
import { Code, InviteOptions, type InviteSecret } from './invite-options.tsx';
import '../../style/invite-dialog.css';

interface Props {
  room: RoomModel;
  onClose: () => void;
  secret: InviteSecret;
}

export function InviteDialog({ room, onClose, secret }: Props) {
  return (
    <Dialog title={t('qrAndLink')} onClose={onClose} size="full">
      <div class="invite-options">
        <InviteOptions room={room} secret={secret} />
        <Code code={room.code} />
      </div>
    </Dialog>
  );
}
