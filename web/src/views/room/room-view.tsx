/** A joined room: the invitation, the devices, the text, the files. */
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { focusToType } from '../../components/keep-focus.ts';
import { lazy } from '../../components/lazy.tsx';
import { RequestsLeft } from '../../components/requests-left.tsx';
import { t } from '../../i18n/strings.ts';
import { prefetchWhenIdle } from '../../prefetch.ts';
import { loadTransfer } from '../../room/lazy-transfer.ts';
import { loadUploads } from '../../room/lazy-uploads.ts';
import type { RoomModel } from '../../room/room.ts';
import type { RoomContent } from '../../room/room-phase.ts';
import type { TextModel } from '../../room/text-model.ts';
import type { IncomingFile } from '../../room/uploads.ts';
import { shareFor } from '../../share/destination.ts';
import { addFiles, loadUploadParts } from './add-files.ts';
import { Alerts } from './alerts.tsx';
import { DeleteRoom } from './delete-room.tsx';
import { Devices } from './devices.tsx';
import { DropArea } from './drop-area.tsx';
import { Expiry } from './expiry.tsx';
import { FilePanel, loadFileList } from './file-panel.tsx';
import { Invitation } from './invitation.tsx';
import { loadViewer } from './lazy-viewer.ts';
import { TextPanel } from './text-panel.tsx';

const loadDialogs = () => import('./dialogs.ts');
/** In the order in which people are likely to need them. */
const onDemand = [loadFileList, loadUploads, loadUploadParts, loadTransfer, loadDialogs, loadViewer];
const RoomSettingsDialog = lazy(loadDialogs, 'RoomSettingsDialog');

export function RoomView({ room, text }: { room: RoomModel; text: TextModel }) {
  useEffect(() => {
    void receiveShared(room, text);
  }, [room, text]);

  useEffect(() => prefetchWhenIdle(...onDemand), []);

  const heading = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => focusToType(field.current, heading.current), []);

  const isChanging = useSignal(false);
  const openSettings = () => {
    isChanging.value = true;
  };
  useAnnouncedChanges(room.content.value);

  const onFiles = useCallback((files: IncomingFile[]) => void addFiles(room, files), [room]);
  return (
    <DropArea onFiles={onFiles}>
      <div class="room">
        <h1 class="visually-hidden" ref={heading} tabIndex={-1}>
          {t('roomTitle', { code: room.code })}
        </h1>
        <Alerts room={room} text={text} onExtend={openSettings} />
        <Invitation room={room} />
        <div class="room-panels">
          <Devices room={room} typing={text.typing} />
          <TextPanel room={room} text={text} field={field} />
          <FilePanel room={room} />
          <footer>
            <Expiry room={room} />
            <RequestsLeft />
            <button type="button" class="button quiet" onClick={openSettings}>
              <Icon name="settings" />
              {t('roomSettings')}
            </button>
            <DeleteRoom room={room} />
          </footer>
        </div>
      </div>
      {isChanging.value && (
        <RoomSettingsDialog
          room={room}
          onClose={() => {
            isChanging.value = false;
          }}
        />
      )}
    </DropArea>
  );
}

/** Also changes from the time when this device was not connected. */
function useAnnouncedChanges(content: RoomContent): void {
  const before = useRef(content);
  const { name, hasPin, pinChanges, expiresAt } = content;
  useEffect(() => {
    const known = before.current;
    before.current = content;
    if (known !== content)
      loadDialogs().then(
        ({ announceChanges }) => announceChanges(known, content),
        () => undefined,
      );
  }, [name, hasPin, pinChanges, expiresAt]);
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
