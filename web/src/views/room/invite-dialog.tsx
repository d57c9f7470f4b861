/** The invitation on the whole screen, to show it to people around. */
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';
import { Code, InviteOptions } from './invite-options.tsx';
import { RoomPin } from './room-pin.tsx';
import '../../style/invite-dialog.css';

export function InviteDialog({ room, onClose }: { room: RoomModel; onClose: () => void }) {
  return (
    <Dialog title={t('qrAndLink')} onClose={onClose} size="full">
      <div class="invite-options">
        <InviteOptions room={room}>
          <RoomPin room={room} />
        </InviteOptions>
        <Code code={room.code} />
      </div>
    </Dialog>
  );
}
