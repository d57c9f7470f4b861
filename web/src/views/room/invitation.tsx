/** How another device gets in: the code to type, the QR to scan, the link to send. Folds away once one is there. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { linkTo, shareOrigin } from '../../address.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { CopyQrButton } from '../../components/copy-qr-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomState } from '../../room/room.ts';

export function Invitation({ room }: { room: RoomState }) {
  const open = useSignal(true);
  const alone = room.devices.value.length < 2;
  useLayoutEffect(() => {
    open.value = alone;
  }, [alone]);
  const link = linkTo(room.code);

  return (
    <aside class="card invitation" data-open={open.value || undefined}>
      <div class="invitation-head">
        <div>
          <h2>{t('roomCode')}</h2>
          <Code code={room.code} />
        </div>
        <CopyButton text={room.code} label={t('copyCode')} compact />
        <button
          type="button"
          class="button round fold"
          aria-expanded={open.value}
          aria-controls="ways-in"
          aria-label={t('waysIn')}
          title={t('waysIn')}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          <Icon name={open.value ? 'fold' : 'qr'} />
        </button>
      </div>
      <div class="ways-in" id="ways-in">
        <QrCode text={link} label={t('qrLabel')} />
        <p>{t('waysInHint', { host: new URL(shareOrigin).host })}</p>
        <p class="link">{link.replace(/^https?:\/\//, '')}</p>
        <div class="actions">
          <CopyButton text={link} label={t('copyLink')} icon="link" />
          <CopyQrButton text={link} />
          <ShareButton link={link} />
        </div>
        {room.hasPin.value && (
          <p class="aside with-icon">
            <Icon name="lock" />
            {t('pinNeeded')}
          </p>
        )}
      </div>
    </aside>
  );
}

/** In groups, as people read codes out; to a screen reader, letter by letter. */
function Code({ code }: { code: string }) {
  const half = Math.ceil(code.length / 2);
  return (
    <p class="code">
      <span class="out-of-sight">{[...code].join(' ')}</span>
      <span aria-hidden="true">{code.slice(0, half)}</span>
      <span aria-hidden="true">{code.slice(half)}</span>
    </p>
  );
}

/** The system's own share sheet, where there is one. */
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
