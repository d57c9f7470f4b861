/** Small dialogs and alerts of a room that are rarely shown. They are loaded on demand. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { CopyButton, canCopyImages } from '../../components/copy-button.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { RadioGroup } from '../../components/form-fields.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { encodeQr } from '../../components/qr-code.tsx';
import { t } from '../../i18n/all-strings.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { limits } from '../../page-settings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import type { LinkRole } from '../links/role-links.tsx';
import { Code, InviteOptions, type InviteSecret, linkOf } from './invite-options.tsx';

const RoleLinks = lazy(() => import('../links/role-links.tsx'), 'RoleLinks');

/** Asks for confirmation before the room is deleted. */
export function DeleteDialog({ room, onClose }: { room: RoomModel; onClose: () => void }) {
  return (
    <Dialog title={t('deleteRoomTitle', { code: room.code })} onClose={onClose}>
      <p>{t('deleteRoomHint')}</p>
      <form method="dialog" class="actions">
        <button type="submit" class="button">
          {t('cancel')}
        </button>
        <button type="submit" class="button danger filled" onClick={() => void room.delete()}>
          {t('delete')}
        </button>
      </form>
    </Dialog>
  );
}

/** Asks whether to leave the room while files are being uploaded. */
export function LeaveDialog({ onLeave, onClose }: { onLeave: () => void; onClose: () => void }) {
  return (
    <Dialog title={t('leaveTitle')} onClose={onClose}>
      <p>{t('leaveHint')}</p>
      <form method="dialog" class="actions">
        <button type="submit" class="button">
          {t('stay')}
        </button>
        <button type="submit" class="button danger filled" onClick={onLeave}>
          {t('leave')}
        </button>
      </form>
    </Dialog>
  );
}

interface PasteProps {
  onText: (text: string) => void;
  onClose: () => void;
}

/** A field that takes a paste, for pages that cannot read the clipboard. */
const pasteKeys = () => (/^(Mac|iP)/.test(navigator.platform) ? '⌘V' : t('pasteKeys'));

export function PasteDialog({ onText, onClose }: PasteProps) {
  const field = useRef<HTMLTextAreaElement>(null);

  /** Closes the dialog first, so that the text takes the focus and keeps it. */
  function insert(text: string): void {
    field.current?.closest('dialog')?.close();
    onClose();
    if (text !== '') onText(text);
  }

  return (
    <Dialog title={t('paste')} onClose={onClose}>
      <label class="field">
        <span>{t('pasteHint', { keys: pasteKeys() })}</span>
        <textarea
          ref={field}
          rows={3}
          dir="auto"
          onPaste={(event) => {
            const text = event.clipboardData?.getData('text/plain') ?? '';
            // Files go on to the page, which adds them.
            if (text === '') return void (event.clipboardData?.files.length && insert(''));
            event.preventDefault();
            insert(text);
          }}
        />
      </label>
      <div class="actions">
        <button type="button" class="button primary" onClick={() => insert(field.current?.value ?? '')}>
          {t('insert')}
        </button>
      </div>
    </Dialog>
  );
}

interface InviteProps {
  room: RoomModel;
  onClose: () => void;
  secret: InviteSecret;
}

/** The invitation on the whole screen, to show it to people around, with all ways to pass it on. */
export function InviteDialog({ room, onClose, secret }: InviteProps) {
  const link = linkOf(room);
  const role = useSignal<'edit' | LinkRole>('edit');
  const roles = [
    ['edit', t('linkRoleEdit')],
    ['read', t('linkRoleRead')],
    ['drop', t('linkRoleDrop')],
  ] as const;
  return (
    <Dialog title={t('invite')} onClose={onClose} size="full">
      <div class="invite-options">
        <RadioGroup
          legend={t('linkRoles')}
          value={role.value}
          options={roles}
          onChoose={(chosen) => {
            role.value = chosen;
          }}
        />
        {role.value === 'edit' ? (
          <>
            <InviteOptions room={room} secret={secret}>
              <CopyButton text={room.code} label={t('copyCode')} />
              {canCopyImages() && <CopyButton png={() => drawQr(link)} label={t('copyQr')} icon="qr" />}
              <ShareButton link={link} />
            </InviteOptions>
            <Code code={room.code} />
          </>
        ) : (
          <RoleLinks key={role.value} room={room} role={role.value} share={(link) => <ShareButton link={link} />} />
        )}
      </div>
    </Dialog>
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

const pixelsPerModule = 12;

/** The QR code as an image. */
async function drawQr(text: string): Promise<Blob> {
  const rows = await encodeQr(text);
  const size = rows.length;
  const canvas = new OffscreenCanvas(size * pixelsPerModule, size * pixelsPerModule);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.scale(pixelsPerModule, pixelsPerModule);
  context.fillStyle = '#fff';
  context.fillRect(0, 0, size, size);
  context.fillStyle = '#000';
  for (const [y, row] of rows.entries()) for (const [x, dark] of row.entries()) if (dark) context.fillRect(x, y, 1, 1);
  return canvas.convertToBlob({ type: 'image/png' });
}

interface Dismissible {
  onDismiss: () => void;
}

/** Others have entered wrong PINs, or wrong keys. */
export function AttemptsAlert({ n, isEncrypted, onDismiss }: Dismissible & { n: number; isEncrypted: boolean }) {
  return (
    <DismissibleAlert icon="warning" onDismiss={onDismiss}>
      {t(isEncrypted ? 'keyAttempts' : 'pinAttempts', { n })}
    </DismissibleAlert>
  );
}

/** Own words are missing from the text. The user can copy them. */
export function MissingWordsAlert({ words, onDismiss }: Dismissible & { words: string }) {
  return (
    <DismissibleAlert icon="warning" onDismiss={onDismiss}>
      {t('wordsMissing')} <CopyButton text={words} label={t('copyText')} />
    </DismissibleAlert>
  );
}

/** The room expires soon. `until` is a time of this device. */
export function ExpiryAlert({ until, onExtend, onDismiss }: Dismissible & { until: number; onExtend: () => void }) {
  return (
    <DismissibleAlert
      icon="clock"
      {...(!limits.demo && { action: { label: t('extend'), run: onExtend } })}
      onDismiss={onDismiss}
    >
      <Countdown until={until} format={(ms) => t('roomExpiresIn', { time: roughTime(ms) })} />
    </DismissibleAlert>
  );
}

interface AlertProps extends Dismissible {
  icon: IconName;
  children: ComponentChildren;
  /** An action that solves the problem. */
  action?: { label: string; run: () => void };
}

function DismissibleAlert({ icon, children, action, onDismiss }: AlertProps) {
  return (
    <p class="alert warning">
      <Icon name={icon} />
      <span>{children}</span>
      {action && (
        <button type="button" class="button" onClick={action.run}>
          {action.label}
        </button>
      )}
      <button type="button" class="button round" aria-label={t('close')} onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </p>
  );
}
