/** The page of a room in each of its phases, such as a joined room with its text and its files. */

import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Button } from '../../components/controls.tsx';
import { Countdown, RequestsLeft, useServerNow } from '../../components/countdown.tsx';
import { focusToType } from '../../components/keep-focus.ts';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { dismissUndoNotices, notify } from '../../components/notices.tsx';
import { takeKeyFromAddress } from '../../device/room-keys.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { roughTime, timeLeft } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import { limits } from '../../page-settings.ts';
import { prefetchWhenIdle } from '../../prefetch.ts';
import { loadUploads } from '../../room/lazy-uploads.ts';
import { loadRequests, openRoom } from '../../room/room-model.ts';
import type { PhaseNamed, RoomContent, RoomModel, TextModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';
import { shareFor } from '../../share-target.ts';
import { AbuseContact } from '../header.tsx';
import { MessagePage } from '../message-page.tsx';
import { addFiles, DropArea, loadUploadParts } from './add-files.tsx';
import { Alerts, isConnectionLost, RetryCountdown, type WaitingConnection } from './alerts.tsx';
import { Devices, loadOthers } from './devices.tsx';
import { FilePanel, loadFileList } from './file-panel.tsx';
import { Invitation, RoomSkeleton } from './invitation.tsx';
import { TextPanel } from './text-panel.tsx';
import '../../style/room.css';
import '../../style/file-list.css';
import '../../style/room-screens.css';

const loadProblem = () => import('../encryption/encryption-problem.tsx');
const EncryptionProblem = lazy(loadProblem, 'EncryptionProblem');
const KeptDraft = lazy(loadProblem, 'KeptDraft');
const KeyPrompt = lazy(() => import('../encryption/key-prompt.tsx'), 'KeyPrompt');
const KeptText = lazy(() => import('./text-actions.tsx'), 'KeptText');
const PinPad = lazy(() => import('./pin-pad.tsx'), 'PinPad');

const loadViewer = () => import('../viewer/viewer.tsx');
const loadDialogs = () => import('./dialogs.tsx');
/** In the order in which people are likely to need them. */
const onDemand = [loadOthers, loadFileList, loadUploads, loadUploadParts, loadRequests, loadDialogs, loadViewer];
const loadSettings = () => import('./room-settings-dialog.tsx');
const RoomSettingsDialog = lazy(loadSettings, 'RoomSettingsDialog');

export function RoomPage({ code }: { code: RoomCode }) {
  const room = useMemo(() => openRoom(code, (error) => notify(errorMessage(error))), [code]);
  useEffect(() => {
    room.join({ key: takeKeyFromAddress(code) });
    // A link to the same room changes only the fragment. It may have the key that the page asks for.
    const stop = listen('hashchange', () => {
      const key = takeKeyFromAddress(code);
      if (key && room.phase.peek().name !== 'joined') room.join({ key });
    });
    return () => {
      stop();
      dismissUndoNotices();
      room.leave();
    };
  }, [room]);
  return <View room={room} />;
}

function View({ room }: { room: RoomModel }) {
  const phase = room.phase.value;
  switch (phase.name) {
    case 'pin-required':
    case 'pin-checking': {
      const Prompt = phase.prompt.code.startsWith('KEY_') ? KeyPrompt : PinPad;
      return <Prompt room={room} prompt={phase.prompt} isChecking={phase.name === 'pin-checking'} />;
    }
    case 'joined':
      return <RoomView room={room} text={phase.text} />;
    case 'failed':
      if (/^(ROLLBACK|FORK|DATA_DAMAGED|NOT_ENCRYPTED)$/.test(phase.error.code))
        return <EncryptionProblem room={room} phase={phase} />;
      return <MessagePage title={errorMessage(phase.error)} action={<RetryButton room={room} />} />;
    case 'gone':
      return <RoomGone code={room.code} phase={phase} />;
    default:
      return <Joining room={room} />;
  }
}

const goneMessages = {
  deleted: ['delete', 'roomDeleted', 'roomDeletedHint'],
  'deleted-here': ['check', 'roomDeleted', 'roomDeletedHint'],
  expired: ['clock', 'roomExpired', 'roomExpiredHint'],
  'not-found': ['warning', 'roomNotFound', 'roomNotFoundHint'],
} as const;

function RoomGone({ code, phase }: { code: RoomCode; phase: PhaseNamed<'gone'> }) {
  const [icon, title, hint] = goneMessages[phase.reason];
  const extra = <TextOfGone code={code} phase={phase} />;
  return <MessagePage icon={icon} title={t(title, { code })} hint={t(hint)} extra={extra} />;
}

function TextOfGone({ code, phase }: { code: RoomCode; phase: PhaseNamed<'gone'> }) {
  const { reason, text, content, attempt } = phase;
  const { key } = attempt.room;
  if (reason === 'deleted-here') return null;
  if (!content) return key && <KeptDraft code={code} roomKey={key} />;
  return text?.shared.value && <KeptText code={code} text={text.shared.value} />;
}

/** Usually too short to be seen. If joining takes longer, the page says why: no connection, or a limit. */
function Joining({ room }: { room: RoomModel }) {
  const { connection } = room.phase.value;
  // Keep the message during the next attempt, so that the button in it does not lose the focus.
  const waiting = useRef<WaitingConnection>(undefined);
  if (connection.type === 'waiting') waiting.current = connection;
  if (!waiting.current) return <RoomSkeleton code={room.code} />;
  const until = waiting.current.until.getTime();
  const isOffline = isConnectionLost(waiting.current);
  const format = (ms: number) => t('retryingIn', { time: roughTime(ms) });
  const countdown = isOffline && <Countdown until={until} format={format} />;
  const hint = connection.type === 'waiting' ? countdown : t('joining', { code: room.code });
  const title = isOffline ? t('cannotReachServer') : <RetryCountdown connection={waiting.current} />;
  const retry = <RetryButton room={room} />;
  return <MessagePage icon={isOffline ? 'offline' : 'clock'} title={title} hint={hint} action={retry} />;
}

const RetryButton = ({ room }: { room: RoomModel }) => (
  <Button class="primary" icon="retry" label={t('tryAgain')} onClick={() => room.join()} />
);

/** A joined room: the invitation, the devices, the text, the files. */
function RoomView({ room, text }: { room: RoomModel; text: TextModel }) {
  useEffect(() => void receiveShared(room, text), [room, text]);
  useEffect(() => prefetchWhenIdle(...onDemand), []);
  const heading = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => focusToType(field.current, heading.current), []);

  const isChanging = useSignal(false);
  const openSettings = () => (isChanging.value = true);
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
              <Button class="quiet" icon="settings" label={t('roomSettings')} onClick={openSettings} />
            </div>
            {limits.abuseContact && <AbuseContact room={room} />}
          </footer>
        </div>
      </div>
      {isChanging.value && <RoomSettingsDialog room={room} onClose={() => (isChanging.value = false)} />}
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
    const announce = async () => (await loadSettings()).announceChanges(known, content);
    if (known !== content) announce().catch(() => undefined);
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
  const { expiresAt, since } = room.content.value;
  const left = Math.max(0, expiresAt - useServerNow());
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
