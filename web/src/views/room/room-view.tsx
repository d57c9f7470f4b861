/** A joined room: the invitation, the devices, the text, the files. */
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { RequestsLeft, useServerNow } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { focusToType } from '../../components/keep-focus.ts';
import { lazy } from '../../components/lazy.tsx';
import { timeLeft } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import { limits } from '../../page-settings.ts';
import { prefetchWhenIdle } from '../../prefetch.ts';
import { loadUploads } from '../../room/lazy-uploads.ts';
import { loadRequests } from '../../room/room-model.ts';
import type { RoomContent, RoomModel, TextModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';
import { shareFor } from '../../share-target.ts';
import { AbuseContact } from '../header.tsx';
import { addFiles, DropArea, loadUploadParts } from './add-files.tsx';
import { Alerts } from './alerts.tsx';
import { Devices, loadOthers } from './devices.tsx';
import { FilePanel, loadFileList } from './file-panel.tsx';
import { Invitation } from './invitation.tsx';
import { TextPanel } from './text-panel.tsx';

const loadViewer = () => import('../viewer/viewer.tsx');
const loadDialogs = () => import('./dialogs.tsx');
/** In the order in which people are likely to need them. */
const onDemand = [loadOthers, loadFileList, loadUploads, loadUploadParts, loadRequests, loadDialogs, loadViewer];
const loadSettings = () => import('./room-settings-dialog.tsx');
const RoomSettingsDialog = lazy(loadSettings, 'RoomSettingsDialog');

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
          <Devices room={room} text={text} field={field} />
          <TextPanel room={room} text={text} field={field} />
          <FilePanel room={room} />
          <footer>
            <div class="lower-edge">
              <Expiry room={room} />
              <RequestsLeft />
              <button type="button" class="button quiet" onClick={openSettings}>
                <Icon name="settings" />
                {t('roomSettings')}
              </button>
            </div>
            {limits.abuseContact && <AbuseContact room={room} />}
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
      loadSettings().then(
        ({ announceChanges }) => announceChanges(known, content),
        () => undefined,
      );
  }, [name, hasPin, pinChanges, expiresAt]);
}

/** Adds content shared from another app to the room: text is appended, files are uploaded. */
async function receiveShared(room: RoomModel, model: TextModel): Promise<void> {
  const shareId = shareFor(room.code);
  if (shareId === undefined) return;
  const { takeShared } = await import('../share/share-page.tsx');
  const { text, files } = await takeShared(shareId);
  if (text) model.append(text);
  room.uploads.add(files.map((file) => ({ file })));
}

const expiringSoonMs = 5 * 60_000;

/** The time until the room expires: a bar and a countdown. */
function Expiry({ room }: { room: RoomModel }) {
  const now = useServerNow();
  const { expiresAt, since } = room.content.value;
  const left = Math.max(0, expiresAt - now);
  // The creation time is unknown, so the bar is full when this device first joins.
  const whole = Math.max(1, expiresAt - since);
  return (
    <div class="expiry" data-soon={left < expiringSoonMs || undefined}>
      <time>{timeLeft(left)}</time>
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={Math.min(100, (left / whole) * 100)} height="1" />
      </svg>
    </div>
  );
}
