/** The home page: start a room, join one, or return to a recent one. Other pages show its forms too. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/error.ts';
import { requestRoom } from '../../../../src/client/room-access.ts';
import { Button, Icon, IconButton, Problem } from '../../components/controls.tsx';
import { RequestsLeft, useServerNow } from '../../components/countdown.tsx';
import { codeInput, isPin, PinField, RadioGroup } from '../../components/form-fields.tsx';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { notify } from '../../components/notices.tsx';
import {
  deviceIdIn,
  draftKeys,
  forgetRoom,
  keepKey,
  type RecentRoom,
  recentRooms,
  reloadRecentRooms,
  rememberEncrypted,
  rememberRoom,
  saveKey,
  savePin,
  takeRoom,
} from '../../device/recent-rooms.ts';
import englishHome from '../../i18n/languages/en/home.json' with { type: 'json' };
import { addEnglish, errorMessage, exactTime, roughTime, t, timeLeft, translate } from '../../i18n/strings.ts';
import { basePath, lifetimes, limits } from '../../page-settings.ts';
import { goToRoom, navigate, parseCodeOrLink } from '../../router.ts';
import { transport } from '../../server-connection.ts';
import { shareCacheOf } from '../../share-target.ts';
import { AbuseContact } from '../header.tsx';
import { load, useSubmission } from '../requests.ts';
import '../../style/home.css';

const KeepNewKey = lazy(() => import('../encryption/encryption-views.tsx'), 'KeepNewKey');
const Scanner = lazy(() => import('./scanner.tsx'), 'Scanner');

addEnglish(englishHome);

export function Home() {
  useEffect(() => void forgetEndedRooms().catch(() => undefined), []);
  return (
    <div class="home">
      {!hasNetwork.value && (
        <p class="alert" role="status">
          <Icon name="offline" />
          <span>{translate('youAreOffline')}</span>
        </p>
      )}
      <PendingShare />
      {recentRooms.value.length > 0 ? (
        <>
          <h1 class="visually-hidden">{translate('headline')}</h1>
          <RecentRooms />
        </>
      ) : (
        <section class="hero">
          <div>
            <h1>{translate('headline')}</h1>
            <p>{translate('tagline')}</p>
          </div>
          <Illustration />
        </section>
      )}
      <div class="home-cards">
        <StartForm />
        <JoinForm />
      </div>
      <Button class="show-qr" icon="qr" label={translate('showInviteQr')} onClick={() => navigate('/invite')} />
      <RequestsLeft />
      <p class="small-print">{translate('smallPrint')}</p>
      {limits.abuseContact && <AbuseContact />}
    </div>
  );
}

/** Few devices have drafts. If the code cannot be loaded, the next page load retries. */
async function forgetEndedRooms(): Promise<void> {
  if (draftKeys().length > 0) await (await import('../../room/closed-tabs.ts')).forgetEndedRooms();
}

/** An animation: a dot moves from one device to another. */
function Illustration() {
  return (
    <svg class="illustration" viewBox="0 0 320 180" aria-hidden="true">
      <rect class="illustration-room" x="8" y="8" width="304" height="164" rx="28" />
      <g class="illustration-device">
        <rect x="52" y="58" width="104" height="66" rx="8" />
        <path d="M40 132h128" />
      </g>
      <g class="illustration-device">
        <rect x="222" y="50" width="48" height="86" rx="10" />
        <path d="M240 127h12" />
      </g>
      <path class="illustration-path" d="M104 91C140 20 200 20 246 88" />
      <circle class="illustration-from" cx="104" cy="91" r="8" />
      <circle class="illustration-to" cx="246" cy="88" r="8" />
      <circle class="illustration-dot" r="8" />
    </svg>
  );
}

/** Tells the user that content shared from another app still needs a room. */
function PendingShare() {
  const isPending = useSignal(false);
  useEffect(() => void globalThis.caches?.has(shareCacheOf(basePath)).then((has) => (isPending.value = has)), []);
  if (!isPending.value) return null;
  return (
    <p class="alert" role="status">
      <Icon name="share" />
      <span>{translate('sharePending')}</span>
      <Button label={translate('chooseRoom')} onClick={() => navigate('/share')} />
    </p>
  );
}

const hasNetwork = signal(navigator.onLine);

for (const type of ['online', 'offline']) addEventListener(type, () => (hasNetwork.value = navigator.onLine));

export function RecentRooms({ onJoin = goToRoom }: { onJoin?: (code: string) => void }) {
  const now = useServerNow();
  const rooms = recentRooms.value.filter(({ expiresAt }) => expiresAt > now);
  // On the first render, and when a room expires.
  useEffect(() => void reloadRecentRooms(), [rooms.length]);
  if (rooms.length === 0) return null;
  return (
    <section class="recent">
      <h2>{t('recentRooms')}</h2>
      <ul>
        {rooms.map((room) => (
          <Row key={room.code} room={room} now={now} onJoin={onJoin} />
        ))}
      </ul>
    </section>
  );
}

function Row({ room, now, onJoin }: { room: RecentRoom; now: number; onJoin: (code: string) => void }) {
  const { code, expiresAt, hasPin, isEncrypted, name, firstLine, fileCount } = room;
  const onRemove = () => notify(t('recentRoomRemoved', { code }), { undo: forgetRoom(code) });
  return (
    <li>
      <button type="button" class="recent-room" onClick={() => onJoin(code)}>
        <b>{code}</b>
        {(hasPin || isEncrypted) && <Icon name="lock" />}
        {name && <bdi class="recent-name">{name}</bdi>}
        <span>
          {fileCount ? `${t('fileCount', { n: fileCount })} · ` : ''}
          {timeLeft(expiresAt - now, roughTime)}
        </span>
        {firstLine && (
          <small class="recent-text" dir="auto">
            {firstLine}
          </small>
        )}
      </button>
      <IconButton icon="close" label={t('removeRecentRoom', { code })} onClick={onRemove} />
    </li>
  );
}

export function StartForm({ onStart = goToRoom }: { onStart?: (code: string) => void }) {
  const lifetime = useSignal(limits.roomTtl);
  const wantsPin = useSignal(false);
  const pin = useSignal('');
  const pinField = useRef<HTMLInputElement>(null);
  const isEncrypted = useSignal(false);
  const keepsKey = useSignal(true);

  const { isSending, problem, onSubmit } = useSubmission(async () => {
    if (wantsPin.value && !isEncrypted.value && !isPin(pin.value)) {
      pinField.current?.closest('details')?.setAttribute('open', '');
      pinField.current?.focus();
      return t('pinInvalid');
    }
    const request = lifetime.value === limits.roomTtl ? {} : { expiresIn: lifetime.value };
    const { value: code, error } = await load(() =>
      isEncrypted.value
        ? createEncrypted(request, keepsKey.value)
        : create(request, wantsPin.value ? pin.value : undefined),
    );
    if (code) onStart(code);
    return error && errorMessage(error);
  });

  function onPinToggle({ currentTarget: { checked } }: { currentTarget: HTMLInputElement }) {
    wantsPin.value = checked;
    problem.value = '';
  }

  function onEncryptionToggle({ currentTarget: { checked } }: { currentTarget: HTMLInputElement }) {
    isEncrypted.value = checked;
    // Usually there when the room is started.
    if (checked) loadEncryption().catch(() => undefined);
  }

  const label = t(isSending.value ? 'starting' : 'start');
  const choices = lifetimes.map((seconds) => [seconds, exactTime(seconds)] as const);
  return (
    <form class="card home-card" onSubmit={onSubmit} noValidate>
      <h2>{t('startTitle')}</h2>
      <Button type="submit" class="primary large" icon="plus" label={label} aria-disabled={isSending.value} />
      <Problem>{problem.value}</Problem>
      <details class="options">
        <summary>
          <Icon name="unfold" />
          {t('options')}
          <span class="aside">
            {exactTime(lifetime.value)}
            {(wantsPin.value || isEncrypted.value) && <Icon name="lock" />}
          </span>
        </summary>
        <RadioGroup legend={t('lifetime')} chosen={lifetime} options={choices} />
        {/* An encrypted room has a key instead. */}
        {!isEncrypted.value && (
          <label class="check">
            <input type="checkbox" checked={wantsPin.value} onChange={onPinToggle} />
            <span>{t('requirePin')}</span>
          </label>
        )}
        {wantsPin.value && !isEncrypted.value && <PinField pin={pin} field={pinField} />}
        <label class="check encrypt">
          <input type="checkbox" checked={isEncrypted.value} onChange={onEncryptionToggle} />
          <span>
            {t('encryptRoom')}
            <small>{t('encryptRoomHint')}</small>
          </span>
        </label>
        {isEncrypted.value && <KeepNewKey keepsKey={keepsKey} />}
      </details>
    </form>
  );
}

type Request = { expiresIn?: number };

async function create(request: Request, pin: string | undefined): Promise<string> {
  const { roomId: code, expiresAt, hasPin } = await requestRoom(transport, { ...request, ...(pin && { pin }) });
  rememberRoom({ code, expiresAt: Date.parse(expiresAt), hasPin });
  savePin(code, pin);
  return code;
}

async function createEncrypted(request: Request, keepsKey: boolean): Promise<string> {
  const { startEncryptedRoom } = await loadEncryption();
  const { roomId: code, hasPin, key, salt, ...created } = await startEncryptedRoom(request);
  const expiresAt = Date.parse(created.expiresAt);
  rememberRoom({ code, expiresAt, hasPin, isEncrypted: true });
  rememberEncrypted(code, { expiresAt, salt, deviceId: deviceIdIn(code), isOwn: true });
  saveKey(code, key);
  if (keepsKey) keepKey(code, key);
  return code;
}

const loadEncryption = () =>
  import('../../room/encryption.ts').catch((cause) => {
    throw new PoproomError('OFFLINE', String(cause));
  });

/** Longer than the pause between two symbols that someone reads from another screen. */
const typedMs = 1_000;

export function JoinForm({ onJoin = goToRoom }: { onJoin?: (code: string) => void }) {
  const typed = useSignal('');
  const problem = useSignal('');
  const isScanning = useSignal(false);
  const field = useRef<HTMLInputElement>(null);

  // A code that is typed in full needs no button. Some codes are longer, so the user may still be typing.
  useEffect(() => {
    if (!parseCodeOrLink(typed.value)) return;
    const timer = setTimeout(() => join(typed.value), typedMs);
    return () => clearTimeout(timer);
  }, [typed.value]);

  // A link that is pasted anywhere on the page, also beside the field.
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData?.getData('text') ?? '';
    const isExpected = event.target === field.current || pasted.includes('/r/');
    if (isExpected && join(pasted)) event.preventDefault();
  };
  useEffect(() => listen('paste', onPaste), []);

  function join(text: string): boolean {
    const code = takeRoom(text);
    if (code) onJoin(code);
    return code !== undefined;
  }

  function onSubmit(event: Event) {
    event.preventDefault();
    if (join(typed.value)) return;
    problem.value = typed.value.trim() === '' ? t('codeMissing') : t('codeInvalid');
    field.current?.focus();
  }

  const scan = t('scan');

  return (
    <form class="card home-card" onSubmit={onSubmit}>
      <h2>{t('joinTitle')}</h2>
      <label class="field">
        <span>{t('codeLabel')}</span>
        <input
          ref={field}
          class="code-input"
          {...codeInput}
          name="code"
          placeholder="7KQ 2MX"
          value={typed.value}
          aria-invalid={problem.value !== ''}
          aria-describedby="code-problem"
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
            problem.value = '';
          }}
        />
      </label>
      <div class="actions">
        <button type="submit" class="button large grow">
          {t('join')}
          <Icon name="arrow" />
        </button>
        {canScan() && (
          <Button
            class="large"
            icon="camera"
            aria-label={scan}
            title={scan}
            onClick={() => (isScanning.value = true)}
          />
        )}
        {isScanning.value && <Scanner onFound={onJoin} onClose={() => (isScanning.value = false)} />}
      </div>
      <Problem id="code-problem">{problem.value}</Problem>
    </form>
  );
}

/** Whether this browser lets the page use a camera. It does not over plain HTTP. */
const canScan = (): boolean => typeof navigator.mediaDevices?.getUserMedia === 'function';
