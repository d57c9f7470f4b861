/** The QR code and the link of a room, with buttons to pass them on. */
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { CopyQrButton, QrCode } from '../../components/qr-code.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { linkTo, shareUrl } from '../../router.ts';

/** Shows guests the key beside the code. */
export interface InviteSecret {
  /** The key of an encrypted room, which belongs to its code. */
  key?: ComponentChildren;
  /** How to join, if not with the code alone. */
  hint?: ComponentChildren;
  /** The PIN, or advice about the key. */
  note?: ComponentChildren;
}

interface Props {
  room: RoomModel;
  onFullScreen?: () => void;
  secret: InviteSecret;
}

export function InviteOptions({ room, onFullScreen, secret: { key, hint, note } }: Props) {
  const link = linkTo(room.code, room.phase.value.attempt.room.key);
  return (
    <>
      {key}
      <QrCode text={link} label={t('qrLabel')} />
      <p>{hint ?? t('inviteHint', { host: shareUrl.replace(/^https?:\/\//, '') })}</p>
      <p class="link" dir="ltr">
        {link.replace(/^https?:\/\//, '')}
      </p>
      <div class="actions">
        <CopyButton text={link} label={t('copyLink')} icon="link" />
        <CopyQrButton text={link} />
        <ShareButton link={link} />
        {onFullScreen && (
          <button type="button" class="button" onClick={onFullScreen}>
            <Icon name="expand" />
            {t('fullScreen')}
          </button>
        )}
      </div>
      {note}
    </>
  );
}

/** In two groups for reading aloud; letter by letter for screen readers. */
export function Code({ code }: { code: string }) {
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
