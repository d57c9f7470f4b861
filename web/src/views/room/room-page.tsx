/** The page of a room in each of its phases, such as a joined room with its text and its files. */
import { signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Button, Icon } from '../../components/controls.tsx';
import { Countdown, RequestsLeft, useServerNow } from '../../components/countdown.tsx';
import { focusToType } from '../../components/keep-focus.ts';
import { lazy, prefetchWhenIdle } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { MenuButton } from '../../components/menu-button.tsx';
import { dismissUndoNotices, notify } from '../../components/notices.tsx';
import { nameOf } from '../../device/identity.ts';
import { takeKeyFromAddress } from '../../device/recent-rooms.ts';
import { errorMessage, roughTime, t, timeLeft } from '../../i18n/strings.ts';
import { limits } from '../../page-settings.ts';
import { loadUploads } from '../../room/lazy-uploads.ts';
import { loadRequests, openRoom } from '../../room/room-model.ts';
import type { PhaseNamed, RoomContent, RoomModel, TextModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';
import { shareFor } from '../../share-target.ts';
import { AbuseContact } from '../header.tsx';
import { MessagePage } from '../message-page.tsx';
import { addFiles, DropArea, loadUploadParts } from './add-files.tsx';
import { Alerts, isConnectionLost, RetryCountdown, useWaitingConnection, type WaitingConnection } from './alerts.tsx';
import { PendingFiles } from './file-placeholder.tsx';
import { Code, InviteOptions } from './invite-options.tsx';
import type { TextViewProps } from './shared-field.ts';
import { TextPanel } from './text-panel.tsx';
import '../../style/room.css';
import '../../style/file-list.css';
import '../../style/room-screens.css';

const loadEncryption = () => import('../encryption/encryption-views.tsx');
const EncryptionLock = lazy(loadEncryption, 'EncryptionLock');
const EncryptionProblem = lazy(loadEncryption, 'EncryptionProblem');
const KeptDraft = lazy(loadEncryption, 'KeptDraft');
const KeyAdvice = lazy(loadEncryption, 'KeyAdvice');
const KeyInviteHint = lazy(loadEncryption, 'KeyInviteHint');
const KeyPrompt = lazy(loadEncryption, 'KeyPrompt');
const RoomKey = lazy(loadEncryption, 'RoomKey');
const KeptText = lazy(() => import('./text-actions.tsx'), 'KeptText');
const PinPad = lazy(() => import('./pin-pad.tsx'), 'PinPad');
const loadDialogs = () => import('./dialogs.tsx');
const AddMenu = lazy(loadDialogs, 'AddMenu');
const InviteDialog = lazy(loadDialogs, 'InviteDialog');
const RoomPin = lazy(loadDialogs, 'RoomPin');
const RoomSettingsDialog = lazy(loadDialogs, 'RoomSettingsDialog');
const loadFileList = () => import('../files/file-list.tsx');
const FileList = lazy(loadFileList, 'FileList', PendingFiles);
/** Loaded when another device is in the room. */
const loadOthers = () => import('./others.tsx');
const Others = lazy(loadOthers, 'Others');
const RoleMark = lazy(loadOthers, 'RoleMark');
const TypingBubble = lazy(loadOthers, 'TypingBubble');
const loadViewer = () => import('../viewer/viewer.tsx');
/** In the order in which people are likely to need them. */
const onDemand = [loadOthers, loadFileList, loadUploads, loadUploadParts, loadRequests, loadDialogs, loadViewer];

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
      return <RoomGone code={code} phase={phase} />;
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
  const { reason, text, content, attempt } = phase;
  const [icon, title, hint] = goneMessages[reason];
  const { key } = attempt.room;
  const kept = text?.shared.value && <KeptText code={code} text={text.shared.value} />;
  const extra = content ? kept : key && <KeptDraft code={code} roomKey={key} />;
  return (
    <MessagePage icon={icon} title={t(title, { code })} hint={t(hint)} extra={reason !== 'deleted-here' && extra} />
  );
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
    <>
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
      <DropArea onFiles={onFiles} />
    </>
  );
}

/** Also changes from the time when this device was not connected. */
function useAnnouncedChanges(content: RoomContent): void {
  const before = useRef(content);
  const { name, hasPin, pinChanges, expiresAt } = content;
  useEffect(() => {
    const known = before.current;
    before.current = content;
    const announce = async () => (await loadDialogs()).announceChanges(known, content);
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

/** How other devices join: the code, and on a wide screen also the QR code and the link until another device joins. */
function Invitation({ room }: { room: RoomModel }) {
  const isOpen = useSignal(false);
  const { devices, hasPin, isEncrypted } = room.content.value;
  // Stays true when the other device leaves: the QR code must not appear and disappear while someone types.
  const hadCompany = useRef(false);
  hadCompany.current ||= devices.length > 1;
  const secret = isEncrypted
    ? { key: <RoomKey room={room} />, hint: <KeyInviteHint />, note: <KeyAdvice /> }
    : { note: hasPin && <RoomPin room={room} /> };
  const look = hadCompany.current ? '' : 'primary';

  return (
    <aside class="card invitation">
      <div class="invitation-head">
        <div>
          <h2>{t('roomCode')}</h2>
          <Code code={room.code} />
        </div>
        {hasPin && <Icon name="lock" />}
        {isEncrypted && <EncryptionLock room={room} />}
        <Button class={look} icon="qr" label={t('invite')} onClick={() => (isOpen.value = true)} />
      </div>
      {isWideScreen.value && !hadCompany.current && (
        <div class="invite-options">
          <InviteOptions room={room} secret={secret} />
        </div>
      )}
      {isOpen.value && <InviteDialog room={room} secret={secret} onClose={() => (isOpen.value = false)} />}
    </aside>
  );
}

/** Looks like an empty room while the room loads, so that the largest paint does not wait for the server. */
function RoomSkeleton({ code }: { code: string }) {
  return (
    <div class="room skeleton" aria-busy="true">
      <aside class="card invitation">
        <div class="invitation-head">
          <div>
            <h2>{t('roomCode')}</h2>
            <Code code={code} />
          </div>
        </div>
      </aside>
      <div class="room-panels">
        <i class="skeleton-device" />
        <p class="skeleton-text" aria-hidden="true">
          {t('textPlaceholder')}
        </p>
        <footer>
          <div class="lower-edge">
            <small class="joining" role="status">
              {t('joining', { code })}
            </small>
          </div>
        </footer>
      </div>
    </div>
  );
}

/** Keep in sync with room-screens.css. */
const wideScreen = matchMedia('(min-width: 58rem)');
const isWideScreen = signal(wideScreen.matches);
wideScreen.addEventListener('change', ({ matches }) => (isWideScreen.value = matches));

/** As many as fit; the others are shown as a number. */
const fitting = () => (isWider(58) ? 8 : isWider(34) ? 3 : 2);
const isWider = (rem: number) => matchMedia(`(min-width: ${rem}rem)`).matches;
const maxShown = signal(fitting());
addEventListener('resize', () => (maxShown.value = fitting()));

function Devices({ room, text, field }: TextViewProps) {
  const { typing } = text;
  const { devices: present } = room.content.value;
  const isOutdated = useWaitingConnection(room) !== undefined;
  const { deviceId } = room;
  const first = useRef(present).current;
  const hasMet = useRef(false);
  hasMet.current ||= present.length > 1;
  // This device comes first.
  const devices = [...present].sort((a, b) => Number(b.deviceId === deviceId) - Number(a.deviceId === deviceId));
  const [shown, rest] = [devices.slice(0, maxShown.value), devices.slice(maxShown.value)];
  const label = t('deviceCount', { n: devices.length });
  return (
    <section class="devices" data-outdated={isOutdated || undefined} aria-label={label}>
      <ul>
        {shown.map((device) => (
          <li key={device.deviceId} data-device={device.deviceId} data-own={device.deviceId === deviceId || undefined}>
            {/* With the first letter of the name, because not everyone can tell all colours apart. */}
            <i class="dot person" data-initial={[...nameOf(device)][0]} style={{ '--color': device.deviceColor }} />
            <span class="device-name" dir="auto" title={nameOf(device)}>
              {nameOf(device)}
            </span>
            {device.deviceId === deviceId && <small>{t('you')}</small>}
            {device.role && <RoleMark role={device.role} />}
            {typing.value.has(device.deviceId) && <TypingBubble />}
          </li>
        ))}
        {rest.length > 0 && (
          <li title={rest.map(nameOf).join(', ')}>
            <bdi dir="ltr">+{rest.length}</bdi>
            {rest.some((device) => typing.value.has(device.deviceId)) && <TypingBubble />}
          </li>
        )}
        {isOutdated ? (
          <li class="waiting">{t('devicesOutdated')}</li>
        ) : (
          devices.length < 2 && <li class="waiting">{t('waitingForDevice')}</li>
        )}
      </ul>
      {hasMet.current && <Others room={room} text={text} field={field} first={first} isOutdated={isOutdated} />}
    </section>
  );
}

/** Its head with the menu that adds files, and the list, which is loaded with the first file. */
function FilePanel({ room }: { room: RoomModel }) {
  const { addsOnce, list } = room.uploads;
  const { files } = room.content.value;
  const first = useRef(files).current;
  // Stays true when the last file is removed, which Undo restores.
  const hasList = useRef(false);
  hasList.current ||= files.length + list.value.length > 0;
  return (
    <section class="file-panel">
      <header>
        <h2>{t('files')}</h2>
        <div class="file-picker">
          <MenuButton menu={(anchor) => <AddMenu anchor={anchor} room={room} />}>
            <Icon name="plus" />
            {t('addFiles')}
          </MenuButton>
        </div>
      </header>
      {addsOnce.value && (
        <p class="once-hint" role="status">
          <Icon name="once" />
          {t('nextFilesOnce')}
        </p>
      )}
      {hasList.current ? <FileList room={room} first={first} /> : <PendingFiles room={room} first={first} />}
    </section>
  );
}
