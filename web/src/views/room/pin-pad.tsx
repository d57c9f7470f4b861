/** Asks for the PIN, by keyboard or on a number pad. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Countdown, useNow } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';
import { roughTime } from '../../i18n/quantities.ts';
import type { PinPrompt, RoomState } from '../../room/room.ts';
import { RetryCountdown } from './alerts.tsx';

export function PinPad({ room, prompt }: { room: RoomState; prompt: PinPrompt }) {
  const pin = useSignal('');
  const checking = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  const locked = useLocked(prompt.lockedUntil);
  const isDisabled = locked || checking.value;

  // Reset before the next key event, or this would remove digits that the user has typed already.
  useLayoutEffect(() => {
    checking.value = false;
    show('');
    field.current?.focus();
  }, [prompt, locked]);

  function show(digits: string) {
    pin.value = digits;
    if (field.current) field.current.value = digits;
  }

  function type(text: string) {
    if (isDisabled) return;
    show(text.replace(/\D/g, '').slice(0, 4));
    if (pin.value.length < 4) return;
    checking.value = true;
    room.join(pin.value);
  }

  return (
    <section class="pin-view">
      <span class="message-icon">
        <Icon name="lock" />
      </span>
      <h1>{t('pinTitle', { code: room.code })}</h1>
      <p class="pin-state" role="alert" data-wrong={((prompt.wrong || locked) && !checking.value) || undefined}>
        <PinStatus room={room} prompt={prompt} locked={locked} checking={checking.value} />
      </p>
      <label class="pin-dots" data-wrong={(prompt.wrong && !checking.value) || undefined}>
        <span class="visually-hidden">{t('pinLabel')}</span>
        <input
          ref={field}
          type="password"
          inputMode="none"
          autocomplete="off"
          maxLength={4}
          readOnly={isDisabled}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
        {[0, 1, 2, 3].map((i) => (
          <i key={i} data-filled={i < pin.value.length || undefined} />
        ))}
      </label>
      <div class="pad">
        {['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'].map((digit) => (
          <button
            key={digit}
            type="button"
            class="button"
            disabled={isDisabled}
            onClick={() => type(pin.value + digit)}
          >
            {digit}
          </button>
        ))}
        <button
          type="button"
          class="button"
          disabled={isDisabled || pin.value === ''}
          aria-label={t('pinBackspace')}
          onClick={() => type(pin.value.slice(0, -1))}
        >
          <Icon name="back" />
        </button>
      </div>
    </section>
  );
}

function useLocked(until: number | undefined): boolean {
  const now = useNow();
  return until !== undefined && now < until;
}

interface State {
  room: RoomState;
  prompt: PinPrompt;
  locked: boolean;
  checking: boolean;
}

function PinStatus({ room, prompt, locked, checking }: State) {
  const connection = room.connection.value;
  if (locked)
    return <Countdown until={prompt.lockedUntil ?? 0} format={(ms) => t('pinLocked', { time: roughTime(ms) })} />;
  if (checking) return connection.status === 'waiting' ? <RetryCountdown connection={connection} /> : t('pinChecking');
  if (!prompt.wrong) return t('pinHint');
  if (!prompt.triesLeft) return t('pinWrong');
  return prompt.triesLeft === 1 ? t('pinWrongLastTry') : t('pinWrongTriesLeft', { n: prompt.triesLeft });
}
