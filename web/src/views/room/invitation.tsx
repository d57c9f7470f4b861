/** How other devices join: the code, and on a wide screen also the QR code and the link until another device joins. */
import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Button } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { Code, InviteOptions } from './invite-options.tsx';

const InviteDialog = lazy(() => import('./dialogs.tsx'), 'InviteDialog');
const RoomPin = lazy(() => import('./room-settings-dialog.tsx'), 'RoomPin');

const loadKey = () => import('../encryption/room-key.tsx');
const EncryptionLock = lazy(loadKey, 'EncryptionLock');
const KeyAdvice = lazy(loadKey, 'KeyAdvice');
const KeyInviteHint = lazy(loadKey, 'KeyInviteHint');
const RoomKey = lazy(loadKey, 'RoomKey');

export function Invitation({ room }: { room: RoomModel }) {
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
export function RoomSkeleton({ code }: { code: string }) {
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
