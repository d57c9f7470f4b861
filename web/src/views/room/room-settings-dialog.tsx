/** Changes the name, the expiry time, the PIN and the webhooks of the room, or deletes it. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import { maxNameLength } from '../../../../src/protocol/limits.ts';
import type { UpdateRoomRequest, WebhookEntry } from '../../../../src/protocol/types.ts';
import { Button, Problem } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { useServerNow } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { isPin, PinField, RadioGroup } from '../../components/form-fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { notify } from '../../components/notices.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { clockOffset } from '../../device/clock.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { exactTime, roughTime, timeLeft } from '../../i18n/quantities.ts';
import { lifetimes, limits } from '../../page-settings.ts';
import type { RoomContent, RoomModel } from '../../room/room-phase.ts';
import { DeleteDialog } from './dialogs.tsx';

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
  const state = useSignal<'ready' | 'saving' | 'deleting' | { problem: string }>('ready');

  function changes(): UpdateRoomRequest {
    return {
      ...(name.value.trim() !== currentName && { name: name.value.trim() || null }),
      ...(lifetime.value > 0 && { expiresIn: lifetime.value }),
      ...(extend.value !== isExtending && { extend: extend.value }),
      ...(pinChoice.value !== 'keep' && { pin: pinChoice.value === 'new' ? pin.value : null }),
    };
  }

  async function onSubmit(event: Event) {
    // The dialog closes when the server has accepted the changes.
    event.preventDefault();
    event.stopPropagation();
    if (state.value === 'saving') return;
    if (pinChoice.value === 'new' && !isPin(pin.value)) {
      state.value = { problem: t('pinInvalid') };
      return pinField.current?.focus();
    }
    if (Object.keys(changes()).length === 0) return onClose();
    state.value = 'saving';
    const error = await room.update(changes());
    if (error) state.value = { problem: errorMessage(error) };
    else onClose();
  }

  if (state.value === 'deleting') return <DeleteDialog room={room} onClose={onClose} />;
  const isSaving = state.value === 'saving';
  const askToDelete = () => (state.value = 'deleting');
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
        <Problem>{typeof state.value === 'object' && state.value.problem}</Problem>
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

/** The webhooks of a room: list, add and remove. */
function WebhookSettings({ room }: { room: RoomModel }) {
  const list = useSignal<readonly WebhookEntry[]>([]);
  const url = useSignal('');
  const secret = useSignal('');
  const problem = useSignal('');
  const requests = () => room.phase.value.attempt.room.requests();

  async function attempt(work: () => Promise<void>): Promise<void> {
    problem.value = '';
    try {
      await work();
      list.value = await (await requests()).webhooks();
    } catch (error) {
      problem.value = errorMessage(error as PoproomError);
    }
  }

  const add = () =>
    attempt(async () => {
      const api = await requests();
      secret.value = (await api.createWebhook({ url: url.value.trim(), events: ['text', 'file', 'room'] })).secret;
      url.value = '';
    });
  const remove = (id: string) => attempt(async () => void (await (await requests()).deleteWebhook(id)));

  useEffect(() => void attempt(async () => undefined), []);
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

/** Tells the user what has changed in the room. */
export function announceChanges(before: RoomContent, after: RoomContent): void {
  const { name, hasPin, pinChanges, expiresAt } = after;
  if (name !== before.name) notify(name ? t('roomRenamed', { name }) : t('roomNameRemoved'));
  if (hasPin !== before.hasPin) notify(t(hasPin ? 'pinWasSet' : 'pinWasRemoved'));
  else if (pinChanges !== before.pinChanges) notify(t('pinWasChanged'));
  // Everyone who writes moves the expiry.
  if (expiresAt !== before.expiresAt && !after.extend)
    notify(t('roomExpiresIn', { time: roughTime(expiresAt + clockOffset.value - Date.now()) }));
}
