/** A joined room: the invitation, the devices, the text, the files. */
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { focusToType } from '../../components/keep-focus.ts';
import { RequestsLeft } from '../../components/requests-left.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';
import type { TextModel } from '../../room/text-model.ts';
import type { IncomingFile } from '../../room/uploads.ts';
import { shareFor } from '../../share/destination.ts';
import { addFiles } from './add-files.ts';
import { Alerts } from './alerts.tsx';
import { DeleteRoom } from './delete-room.tsx';
import { Devices } from './devices.tsx';
import { DropArea } from './drop-area.tsx';
import { Expiry } from './expiry.tsx';
import { FilePanel } from './file-panel.tsx';
import { Invitation } from './invitation.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { TextPanel } from './text-panel.tsx';

export function RoomView({ room, text }: { room: RoomModel; text: TextModel }) {
  useEffect(() => {
    void receiveShared(room, text);
  }, [room, text]);

  const heading = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => focusToType(field.current, heading.current), []);

  const onFiles = useCallback((files: IncomingFile[]) => addFiles(room, files), [room]);
  return (
    <DropArea onFiles={onFiles}>
      <div class="room">
        <h1 class="visually-hidden" ref={heading} tabIndex={-1}>
          {t('roomTitle', { code: room.code })}
        </h1>
        <Alerts room={room} />
        <Invitation room={room} />
        <div class="room-panels">
          <Devices room={room} typing={text.typing} />
          <TextPanel room={room} text={text} field={field} />
          <FilePanel room={room} />
          <footer>
            <Expiry room={room} />
            <RequestsLeft />
            <DeleteRoom room={room} />
          </footer>
        </div>
      </div>
      <LeaveGuard uploads={room.uploads} />
    </DropArea>
  );
}

/** Adds content shared from another app to the room: text is appended, files are uploaded. */
async function receiveShared(room: RoomModel, model: TextModel): Promise<void> {
  const shareId = shareFor(room.code);
  if (shareId === undefined) return;
  const { takeShared } = await import('../../share/shared-content.ts');
  const { text, files } = await takeShared(shareId);
  if (text) model.append(text);
  room.uploads.add(files.map((file) => ({ file })));
}
