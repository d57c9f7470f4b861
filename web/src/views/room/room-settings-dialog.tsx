/** Changes the name, the expiry time and the PIN of the room, or deletes it. */

import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { maxNameLength } from '../../../../src/protocol/limits.ts';
import type { UpdateRoomRequest } from '../../../../src/protocol/types.ts';
import { useServerNow } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { isPin, PinField, RadioGroup } from '../../components/form-fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { notify } from '../../components/notices.tsx';
import { clockOffset } from '../../device/clock.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { exactTime, roughTime, timeLeft } from '../../i18n/quantities.ts';
import { lifetimes, limits } from '../../page-settings.ts';
import type { RoomContent, RoomModel } from '../../room/room-phase.ts';
import { DeleteDialog } from './dialogs.tsx';
import { WebhookSettings } from './webhook-settings.tsx';

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

  async function save(): Promise<void> {
    const error = await room.update(changes());
    if (error) state.value = { problem: errorMessage(error) };
    else onClose();
  }

  function onSubmit(event: Event): void {
    // The dialog closes when the server has accepted the changes.
    event.preventDefault();
    event.stopPropagation();
    if (state.value === 'saving') return;
    if (pinChoice.value === 'new' && !isPin(pin.value)) {
      state.value = { problem: t('pinInvalid') };
      pinField.current?.focus();
    } else if (Object.keys(changes()).length === 0) {
      onClose();
    } else {
      state.value = 'saving';
      void save();
    }
  }

  if (state.value === 'deleting') return <DeleteDialog room={room} onClose={onClose} />;
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
            onInput={({ currentTarget }) => {
              name.value = currentTarget.value;
            }}
          />
          <small>{t('roomNameHint')}</small>
        </label>
        {/* Rooms of a demonstration cannot be extended. */}
        {!limits.demo && <LifetimeChoice room={room} lifetime={lifetime} extend={extend} />}
        {!room.content.value.isEncrypted && <PinChanges room={room} choice={pinChoice} pin={pin} field={pinField} />}
        {limits.webhooks && <WebhookSettings room={room} />}
        <p class="problem" role="alert">
          {typeof state.value === 'object' && state.value.problem}
        </p>
        <div class="actions">
          <button
            type="button"
            class="button quiet danger delete-room"
            onClick={() => {
              state.value = 'deleting';
            }}
          >
            <Icon name="delete" />
            {t('deleteRoom')}
          </button>
          <button type="button" class="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" class="button primary" aria-disabled={state.value === 'saving'}>
            {state.value === 'saving' ? t('saving') : t('save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface LifetimeProps {
  room: RoomModel;
  lifetime: Signal<number>;
  extend: Signal<boolean>;
}

function LifetimeChoice({ room, lifetime, extend }: LifetimeProps) {
  const left = room.content.value.expiresAt - useServerNow();
  return (
    <div>
      <RadioGroup
        legend={t('lifetime')}
        value={lifetime.value}
        options={[[0, t('noChange')] as const, ...lifetimes.map((seconds) => [seconds, exactTime(seconds)] as const)]}
        onChoose={(seconds) => {
          lifetime.value = seconds;
        }}
      />
      <p class="aside">
        <time>{timeLeft(left)}</time>
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={extend.value}
          onChange={({ currentTarget }) => {
            extend.value = currentTarget.checked;
          }}
        />
        <span>{t('extendWhileUsed')}</span>
      </label>
    </div>
  );
}

interface PinProps {
  room: RoomModel;
  choice: Signal<PinChoice>;
  pin: Signal<string>;
  field: RefObject<HTMLInputElement | null>;
}

function PinChanges({ room, choice, pin, field }: PinProps) {
  const { hasPin } = room.content.value;
  const options: [PinChoice, string][] = [
    ['keep', t('noChange')],
    ['new', t('newPin')],
  ];
  if (hasPin) options.push(['remove', t('remove')]);
  return (
    <div>
      <RadioGroup
        legend={t('pin')}
        value={choice.value}
        options={options}
        onChoose={(chosen) => {
          choice.value = chosen;
        }}
      />
      {choice.value === 'new' && <PinField pin={pin} field={field} />}
      {choice.value === 'keep' && hasPin && <RoomPin room={room} />}
    </div>
  );
}

/** Says that the room has a PIN, and shows it to users who know it. */
export function RoomPin({ room }: { room: RoomModel }) {
  /** Until then, the PIN is hidden from people who look at the screen. */
  const isShown = useSignal(false);
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
          <button
            type="button"
            class="button quiet"
            onClick={() => {
              isShown.value = !isShown.value;
            }}
          >
            {t(isShown.value ? 'hidePin' : 'showPin')}
          </button>
        </p>
      )}
    </div>
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
