/** The invitation on the whole screen, to show it to people around. */
import type { ComponentChildren } from 'preact';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';
import { Code, InviteOptions } from './invite-options.tsx';
import '../../style/invite-dialog.css';

interface Props {
  room: RoomModel;
  onClose: () => void;
  /** The PIN or the key. */
  children: ComponentChildren;
}

export function InviteDialog({ room, onClose, children }: Props) {
  return (
    <Dialog title={t('qrAndLink')} onClose={onClose} size="full">
      <div class="invite-options">
        <InviteOptions room={room}>{children}</InviteOptions>
        <Code code={room.code} />
      </div>
    </Dialog>
  );
}
