/** The QR code and the link of a room, with buttons to pass them on. */
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import { QrCode } from '../../components/qr-code.tsx';
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

type Props = { room: RoomModel; secret: InviteSecret; children?: ComponentChildren };

export const linkOf = (room: RoomModel): string => linkTo(room.code, room.phase.value.attempt.room.key);

/** `children`: more ways to pass the invitation on. */
export function InviteOptions({ room, secret: { key, hint, note }, children }: Props) {
  const link = linkOf(room);
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
        {children}
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
