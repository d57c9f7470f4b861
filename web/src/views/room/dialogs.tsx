/** The dialogs and alerts of a room, and the menu that adds files. They are loaded on demand. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { maxNameLength } from '../../../../src/protocol/limits.ts';
import type { LinkRole } from '../../../../src/protocol/link-rights.ts';
import type { UpdateRoomRequest } from '../../../../src/protocol/types.ts';
import { Button, Icon, type IconName, Problem } from '../../components/controls.tsx';
import { CopyButton, canCopyImages } from '../../components/copy-button.tsx';
import { Countdown, useServerNow } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { isPin, PinField, RadioGroup } from '../../components/form-fields.tsx';
import { lazy } from '../../components/lazy.tsx';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { notify } from '../../components/notices.tsx';
import { encodeQr } from '../../components/qr-code.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, exactTime, roughTime, timeLeft } from '../../i18n/strings.ts';
import { lifetimes, limits } from '../../page-settings.ts';
import type { RoomContent, RoomModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';
import { clockOffset } from '../../server-connection.ts';
import { useRemoteList, useSubmission } from '../requests.ts';
import { addFiles } from './add-files.tsx';
import { Code, InviteOptions, type InviteSecret, linkOf } from './invite-options.tsx';

const RoleLinks = lazy(() => import('../links/role-links.tsx'), 'RoleLinks');

function DeleteDialog({ room, onClose }: { room: RoomModel; onClose: () => void }) {
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

function ShareButton({ link }: { link: string }) {
  if (typeof navigator.share !== 'function') return null;
  const share = () => navigator.share({ title: 'Poproom', url: link }).catch(() => undefined);
  return <Button icon="share" label={t('share')} onClick={share} />;
}

const pixelsPerModule = 12;

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

export function AttemptsAlert({ n, isEncrypted, onDismiss }: Dismissible & { n: number; isEncrypted: boolean }) {
  return (
    <DismissibleAlert onDismiss={onDismiss}>{t(isEncrypted ? 'keyAttempts' : 'pinAttempts', { n })}</DismissibleAlert>
  );
}

/** Own words that a text after a gap does not have. The user can copy them. */
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
  // Phones cannot.
  const canPickFolders = !matchMedia('(max-width: 40rem), (pointer: coarse)').matches;
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
      <Menu anchor={anchor} label={t('addFiles')} entries={canPickFolders ? [files, folder, once] : [files, once]} />
      <input ref={input} type="file" multiple hidden onChange={onChange} />
    </>
  );
}

/** A picker for folders names the path of each file: "photos/2026/a.jpg". */
const pickedFiles = (files: FileList | null): IncomingFile[] =>
  Array.from(files ?? [], (file) => ({ file, folder: file.webkitRelativePath.replace(/\/?[^/]*$/, '') }));

type PinChoice = 'keep' | 'new' | 'remove';

export function RoomSettingsDialog({ room, onClose }: { room: RoomModel; onClose: () => void }) {
  const { name: currentName = '', extend: isExtending = false } = room.content.value;
  const name = useSignal(currentName);
  /** Seconds from now; 0 keeps the expiry time. */
  const lifetime = useSignal(0);
  const extend = useSignal<boolean>(isExtending);
  const pinChoice = useSignal<PinChoice>('keep');
  const pin = useSignal('');
  const pinField = useRef<HTMLInputElement>(null);
  const isDeleting = useSignal(false);
  const { isSending, problem, onSubmit } = useSubmission(async () => {
    if (pinChoice.value === 'new' && !isPin(pin.value)) {
      pinField.current?.focus();
      return t('pinInvalid');
    }
    const changes: UpdateRoomRequest = {
      ...(name.value.trim() !== currentName && { name: name.value.trim() || null }),
      ...(lifetime.value > 0 && { expiresIn: lifetime.value }),
      ...(extend.value !== isExtending && { extend: extend.value }),
      ...(pinChoice.value !== 'keep' && { pin: pinChoice.value === 'new' ? pin.value : null }),
    };
    const error = Object.keys(changes).length > 0 ? await room.update(changes) : undefined;
    if (!error) onClose();
    return error && errorMessage(error);
  });

  if (isDeleting.value) return <DeleteDialog room={room} onClose={onClose} />;
  const isSaving = isSending.value;
  const askToDelete = () => (isDeleting.value = true);
  return (
    <Dialog title={t('roomSettings')} onClose={onClose}>
      <form class="room-settings" onSubmit={onSubmit} noValidate>
        <label class="field">
          <span>{t('roomName')}</span>
          <input
            type="text"
            dir="auto"
            maxLength={maxNameLength.room}
            autocomplete="off"
            value={name.value}
            onInput={({ currentTarget }) => (name.value = currentTarget.value)}
          />
          <small>{t('roomNameHint')}</small>
        </label>
        {/* Rooms of a demonstration cannot be extended. */}
        {!limits.demo && <LifetimeChoice room={room} lifetime={lifetime} extend={extend} />}
        {!room.content.value.isEncrypted && <PinChanges room={room} choice={pinChoice} pin={pin} field={pinField} />}
        {limits.webhooks && <WebhookSettings room={room} />}
        <Problem>{problem.value}</Problem>
        <div class="actions">
          <Button class="quiet danger delete-room" icon="delete" label={t('deleteRoom')} onClick={askToDelete} />
          <Button label={t('cancel')} onClick={onClose} />
          <Button type="submit" class="primary" label={t(isSaving ? 'saving' : 'save')} aria-disabled={isSaving} />
        </div>
      </form>
    </Dialog>
  );
}

type LifetimeProps = { room: RoomModel; lifetime: Signal<number>; extend: Signal<boolean> };

function LifetimeChoice({ room, lifetime, extend }: LifetimeProps) {
  const left = room.content.value.expiresAt - useServerNow();
  const choices = lifetimes.map((seconds) => [seconds, exactTime(seconds)] as const);
  return (
    <div>
      <RadioGroup legend={t('lifetime')} chosen={lifetime} options={[[0, t('noChange')], ...choices]} />
      <p class="aside">
        <time>{timeLeft(left)}</time>
      </p>
      <label class="check">
        <input type="checkbox" checked={extend.value} onChange={() => (extend.value = !extend.value)} />
        <span>{t('extendWhileUsed')}</span>
      </label>
    </div>
  );
}

type PinProps = Parameters<typeof PinField>[0] & { room: RoomModel; choice: Signal<PinChoice> };

function PinChanges({ room, choice, pin, field }: PinProps) {
  const { hasPin } = room.content.value;
  const labels = { keep: t('noChange'), new: t('newPin'), ...(hasPin && { remove: t('remove') }) };
  const options = Object.entries(labels) as [PinChoice, string][];
  return (
    <div>
      <RadioGroup legend={t('pin')} chosen={choice} options={options} />
      {choice.value === 'new' && <PinField pin={pin} field={field} />}
      {choice.value === 'keep' && hasPin && <RoomPin room={room} />}
    </div>
  );
}

/** Says that the room has a PIN, and shows it to users who know it. */
export function RoomPin({ room }: { room: RoomModel }) {
  // Until then, the PIN is hidden from people who look at the screen.
  const isShown = useSignal(false);
  const toggle = () => (isShown.value = !isShown.value);
  // The phase changes with the PIN.
  const pin = room.phase.value.attempt.room.pin();
  return (
    <div>
      <p class="aside with-icon">
        <Icon name="lock" />
        {t('pinRequired')}
      </p>
      {pin && (
        <p class="aside room-pin">
          {t('pin')}: <b dir="ltr">{isShown.value ? pin : '••••'}</b>
          <Button class="quiet" label={t(isShown.value ? 'hidePin' : 'showPin')} onClick={toggle} />
        </p>
      )}
    </div>
  );
}

function WebhookSettings({ room }: { room: RoomModel }) {
  const { list, problem, change } = useRemoteList(async () => (await room.requests()).webhooks());
  const url = useSignal('');
  const secret = useSignal('');
  const add = () =>
    change(async () => {
      const api = await room.requests();
      secret.value = (await api.createWebhook({ url: url.value.trim(), events: ['text', 'file', 'room'] })).secret;
      url.value = '';
    });
  const remove = (id: string) => change(async () => (await room.requests()).deleteWebhook(id));
  const label = t('remove');
  return (
    <fieldset class="webhooks">
      <legend>{t('webhooks')}</legend>
      {list.value.map(({ id, host, lastDelivery, lastError }) => (
        <p class="webhook" key={id}>
          <bdi dir="ltr">{host}</bdi> {lastDelivery && <TimeAgo at={lastDelivery} />}
          {lastError && <small class="problem">{lastError.message}</small>}
          <Button class="quiet" label={label} aria-label={`${label}: ${host}`} onClick={() => void remove(id)} />
        </p>
      ))}
      <label class="field">
        <span>URL</span>
        <input
          type="url"
          dir="ltr"
          autocomplete="off"
          value={url.value}
          onInput={({ currentTarget }) => (url.value = currentTarget.value)}
          onKeyDown={(event) => {
            // The form of the settings would be submitted.
            if (event.key !== 'Enter') return;
            event.preventDefault();
            if (url.value) void add();
          }}
        />
        <small>{t('webhookHint')}</small>
      </label>
      <Button label={t('addWebhook')} disabled={!url.value} onClick={() => void add()} />
      {secret.value && (
        <p class="aside">
          {t('webhookSecret')} <CopyButton text={secret.value} label={t('copySecret')} />
        </p>
      )}
      <Problem>{problem.value}</Problem>
    </fieldset>
  );
}

export function announceChanges(before: RoomContent, after: RoomContent): void {
  const { name, hasPin, pinChanges, expiresAt } = after;
  if (name !== before.name) notify(name ? t('roomRenamed', { name }) : t('roomNameRemoved'));
  if (hasPin !== before.hasPin) notify(t(hasPin ? 'pinWasSet' : 'pinWasRemoved'));
  else if (pinChanges !== before.pinChanges) notify(t('pinWasChanged'));
  // Everyone who writes moves the expiry.
  if (expiresAt !== before.expiresAt && !after.extend)
    notify(t('roomExpiresIn', { time: roughTime(expiresAt + clockOffset.value - Date.now()) }));
}
