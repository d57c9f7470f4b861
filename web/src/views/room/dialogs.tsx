/** Small dialogs and alerts of a room, and the menu that adds files. They are loaded on demand. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Button } from '../../components/controls.tsx';
import { CopyButton, canCopyImages } from '../../components/copy-button.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { RadioGroup } from '../../components/form-fields.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { encodeQr } from '../../components/qr-code.tsx';
import { t } from '../../i18n/all-strings.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { limits } from '../../page-settings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';
import type { LinkRole } from '../links/role-links.tsx';
import { addFiles } from './add-files.tsx';
import { Code, InviteOptions, type InviteSecret, linkOf } from './invite-options.tsx';

const RoleLinks = lazy(() => import('../links/role-links.tsx'), 'RoleLinks');

/** Asks for confirmation before the room is deleted. */
export function DeleteDialog({ room, onClose }: { room: RoomModel; onClose: () => void }) {
  return (
    <Dialog title={t('deleteRoomTitle', { code: room.code })} onClose={onClose}>
      <p>{t('deleteRoomHint')}</p>
      <form method="dialog" class="actions">
        <Button type="submit" label={t('cancel')} />
        <Button type="submit" class="danger filled" label={t('delete')} onClick={() => void room.delete()} />
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
        <Button type="submit" label={t('stay')} />
        <Button type="submit" class="danger filled" label={t('leave')} onClick={onLeave} />
      </form>
    </Dialog>
  );
}

/** A field that takes a paste, for pages that cannot read the clipboard. */
export function PasteDialog({ onText, onClose }: { onText: (text: string) => void; onClose: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const keys = /^(Mac|iP)/.test(navigator.platform) ? '⌘V' : t('pasteKeys');

  /** Closes the dialog first, so that the text takes the focus and keeps it. */
  function insert(text: string): void {
    field.current?.closest('dialog')?.close();
    onClose();
    if (text !== '') onText(text);
  }

  function onPaste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    // Files go on to the page, which adds them.
    if (text === '') return void (event.clipboardData?.files.length && insert(''));
    event.preventDefault();
    insert(text);
  }

  return (
    <Dialog title={t('paste')} onClose={onClose}>
      <label class="field">
        <span>{t('pasteHint', { keys })}</span>
        <textarea ref={field} rows={3} dir="auto" onPaste={onPaste} />
      </label>
      <div class="actions">
        <Button class="primary" label={t('insert')} onClick={() => insert(field.current?.value ?? '')} />
      </div>
    </Dialog>
  );
}

type InviteProps = { room: RoomModel; secret: InviteSecret; onClose: () => void };

/** The invitation on the whole screen, to show it to people around, with all ways to pass it on. */
export function InviteDialog({ room, secret, onClose }: InviteProps) {
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
        <RadioGroup legend={t('linkRoles')} chosen={role} options={roles} />
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
  const share = () => navigator.share({ title: 'Poproom', url: link }).catch(() => undefined);
  return <Button icon="share" label={t('share')} onClick={share} />;
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

type Dismissible = { onDismiss: () => void };

/** Others have entered wrong PINs, or wrong keys. */
export function AttemptsAlert({ n, isEncrypted, onDismiss }: Dismissible & { n: number; isEncrypted: boolean }) {
  return (
    <DismissibleAlert onDismiss={onDismiss}>{t(isEncrypted ? 'keyAttempts' : 'pinAttempts', { n })}</DismissibleAlert>
  );
}

/** Own words are missing from the text. The user can copy them. */
export function MissingWordsAlert({ words, onDismiss }: Dismissible & { words: string }) {
  return (
    <DismissibleAlert onDismiss={onDismiss}>
      {t('wordsMissing')} <CopyButton text={words} label={t('copyText')} />
    </DismissibleAlert>
  );
}

/** The room expires soon. `until` is a time of this device. */
export function ExpiryAlert({ until, onExtend, onDismiss }: Dismissible & { until: number; onExtend: () => void }) {
  const extend = !limits.demo && <Button label={t('extend')} onClick={onExtend} />;
  return (
    <DismissibleAlert icon="clock" action={extend} onDismiss={onDismiss}>
      <Countdown until={until} format={(ms) => t('roomExpiresIn', { time: roughTime(ms) })} />
    </DismissibleAlert>
  );
}

interface AlertProps extends Dismissible {
  icon?: IconName;
  children: ComponentChildren;
  /** A button that solves the problem. */
  action?: ComponentChildren;
}

function DismissibleAlert({ icon = 'warning', children, action, onDismiss }: AlertProps) {
  return (
    <p class="alert warning">
      <Icon name={icon} />
      <span>{children}</span>
      {action}
      <Button class="round" icon="close" aria-label={t('close')} onClick={onDismiss} />
    </p>
  );
}

/** The menu that adds files: chosen ones, a folder, and the option for one-time files. */
export function AddMenu({ anchor, room }: { anchor: Signal<HTMLElement | undefined>; room: RoomModel }) {
  const input = useRef<HTMLInputElement>(null);
  const { addsOnce } = room.uploads;
  const pick = (webkitdirectory: boolean) => {
    if (input.current) Object.assign(input.current, { webkitdirectory }).click();
  };
  const onChange = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    void addFiles(room, pickedFiles(currentTarget.files));
    currentTarget.value = '';
  };
  const files: MenuEntry = { icon: 'file', label: t('chooseFiles'), onSelect: () => pick(false) };
  const folder: MenuEntry = { icon: 'folder', label: t('chooseFolder'), onSelect: () => pick(true) };
  const toggleOnce = () => (addsOnce.value = !addsOnce.value);
  const label = t('deleteAfterDownload');
  const once: MenuEntry = { icon: 'once', label, isChecked: addsOnce.value, onSelect: toggleOnce };
  return (
    <>
      <Menu anchor={anchor} label={t('addFiles')} entries={canPickFolders() ? [files, folder, once] : [files, once]} />
      <input ref={input} type="file" multiple hidden onChange={onChange} />
    </>
  );
}

/** Phones cannot. */
const canPickFolders = (): boolean => !matchMedia('(max-width: 40rem), (pointer: coarse)').matches;

/** A picker for folders names the path of each file: "photos/2026/a.jpg". */
const pickedFiles = (files: FileList | null): IncomingFile[] =>
  Array.from(files ?? [], (file) => ({ file, folder: file.webkitRelativePath.replace(/\/?[^/]*$/, '') }));
