/** Starts a room with one click. A PIN and a lifetime are optional. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/error.ts';
import { requestRoom } from '../../../../src/client/room-access.ts';
import { Button, Problem } from '../../components/controls.tsx';
import { isPin, PinField, RadioGroup } from '../../components/form-fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { deviceIdIn } from '../../device/device-id.ts';
import { rememberEncrypted, rememberRoom, savePin } from '../../device/recent-rooms.ts';
import { keepKey, saveKey } from '../../device/room-keys.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { exactTime } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import { lifetimes, limits } from '../../page-settings.ts';
import { goToRoom } from '../../router.ts';
import { toPoproomError, transport } from '../../server-connection.ts';

const KeepNewKey = lazy(() => import('../encryption/room-key.tsx'), 'KeepNewKey');

export function StartForm({ onStart = goToRoom }: { onStart?: (code: string) => void }) {
  const lifetime = useSignal(limits.roomTtl);
  const wantsPin = useSignal(false);
  const pin = useSignal('');
  const pinField = useRef<HTMLInputElement>(null);
  const isEncrypted = useSignal(false);
  const keepsKey = useSignal(true);
  const state = useSignal<'ready' | 'starting' | { problem: string }>('ready');
  const isStarting = state.value === 'starting';

  async function onSubmit(event: Event) {
    event.preventDefault();
    if (state.value === 'starting') return;
    if (wantsPin.value && !isEncrypted.value && !isPin(pin.value)) {
      state.value = { problem: t('pinInvalid') };
      pinField.current?.closest('details')?.setAttribute('open', '');
      pinField.current?.focus();
      return;
    }
    state.value = 'starting';
    try {
      const request = lifetime.value === limits.roomTtl ? {} : { expiresIn: lifetime.value };
      const newPin = wantsPin.value ? pin.value : undefined;
      onStart(await (isEncrypted.value ? createEncrypted(request, keepsKey.value) : create(request, newPin)));
      state.value = 'ready';
    } catch (error) {
      state.value = { problem: errorMessage(toPoproomError(error)) };
    }
  }

  function onPinToggle({ currentTarget: { checked } }: { currentTarget: HTMLInputElement }) {
    wantsPin.value = checked;
    if (state.value !== 'starting') state.value = 'ready';
  }

  function onEncryptionToggle({ currentTarget: { checked } }: { currentTarget: HTMLInputElement }) {
    isEncrypted.value = checked;
    // Usually there when the room is started.
    if (checked) loadEncryption().catch(() => undefined);
  }

  const label = t(isStarting ? 'starting' : 'start');
  const choices = lifetimes.map((seconds) => [seconds, exactTime(seconds)] as const);
  return (
    <form class="card home-card" onSubmit={onSubmit} noValidate>
      <h2>{t('startTitle')}</h2>
      <Button type="submit" class="primary large" icon="plus" label={label} aria-disabled={isStarting} />
      <Problem>{typeof state.value === 'object' && state.value.problem}</Problem>
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
