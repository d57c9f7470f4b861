/** How other devices join: the code, the QR code, the link. Collapses when another device has joined. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { CopyButton } from '../../components/copy-button.tsx';
import { CopyQrButton } from '../../components/copy-qr-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';
import { linkTo, shareOrigin } from '../../router.ts';

export function Invitation({ room }: { room: RoomModel }) {
  const isOpen = useSignal(true);
  const isAlone = room.content.value.devices.length < 2;
  useLayoutEffect(() => {
    isOpen.value = isAlone;
  }, [isAlone]);
  const link = linkTo(room.code);

  return (
    <aside class="card invitation" data-open={isOpen.value || undefined}>
      <div class="invitation-head">
        <div>
          <h2>{t('roomCode')}</h2>
          <Code code={room.code} />
        </div>
        <CopyButton text={room.code} label={t('copyCode')} compact />
        <button
          type="button"
          class="button round fold"
          aria-expanded={isOpen.value}
          aria-controls="invite-options"
          aria-label={t('invite')}
          title={t('invite')}
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          <Icon name={isOpen.value ? 'fold' : 'qr'} />
        </button>
      </div>
      <div class="invite-options" id="invite-options">
        <QrCode text={link} label={t('qrLabel')} />
        <p>{t('inviteHint', { host: new URL(shareOrigin).host })}</p>
        <p class="link" dir="ltr">
          {link.replace(/^https?:\/\//, '')}
        </p>
        <div class="actions">
          <CopyButton text={link} label={t('copyLink')} icon="link" />
          <CopyQrButton text={link} />
          <ShareButton link={link} />
        </div>
        {room.content.value.hasPin && (
          <p class="aside with-icon">
            <Icon name="lock" />
            {t('pinRequired')}
          </p>
        )}
      </div>
    </aside>
  );
}

/** In two groups for reading aloud; letter by letter for screen readers. */
function Code({ code }: { code: string }) {
  const half = Math.ceil(code.length / 2);
  return (
    <p class="code" dir="ltr">
      <span class="visually-hidden">{[...code].join(' ')}</span>
      <span aria-hidden="true">{code.slice(0, half)}</span>
      <span aria-hidden="true">{code.slice(half)}</span>
    </p>
  );
}

/** Opens the system's share sheet, if the browser supports it. */
function ShareButton({ link }: { link: string }) {
  if (typeof navigator.share !== 'function') return null;
  return (
    <button
      type="button"
      class="button"
      onClick={() => navigator.share({ title: 'Poproom', url: link }).catch(() => undefined)}
    >
      <Icon name="share" />
      {t('share')}
    </button>
  );
}
