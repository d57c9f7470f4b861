/** Asks for the PIN, by keyboard or on a number pad. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button, Icon } from '../../components/controls.tsx';
import { Countdown, useNow } from '../../components/countdown.tsx';
import { listen } from '../../components/listen.ts';
import { MoreIcon } from '../../components/more-icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { roughTime, toAsciiDigits } from '../../i18n/strings.ts';
import type { PinPrompt, RoomModel } from '../../room/room-phase.ts';
import { RetryCountdown } from './alerts.tsx';
import '../../style/pin-pad.css';

/** `isChecking`: the server is checking a PIN or a key. */
export type PromptProps = { room: RoomModel; prompt: PinPrompt; isChecking: boolean };

export function PinPad({ room, prompt, isChecking }: PromptProps) {
  const pin = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const isLocked = useNow() < (prompt.lockedUntil ?? 0);
  const isDisabled = isLocked || isChecking;

  // Reset before the next key event, or this would remove digits that the user has typed already.
  useLayoutEffect(() => {
    show('');
    field.current?.focus();
  }, [prompt, isLocked]);

  function show(digits: string): void {
    pin.value = digits;
    if (field.current) field.current.value = digits;
  }

  function onTyped(text: string): void {
    if (isDisabled) return;
    show(toAsciiDigits(text).replace(/\D/g, '').slice(0, 4));
    if (pin.value.length === 4) room.join({ pin: pin.value });
  }

  /** Digits that are typed while the focus is on the number pad. */
  function onKeyDown({ key, target, ctrlKey, metaKey }: KeyboardEvent): void {
    if (target === field.current || ctrlKey || metaKey) return;
    if (/^\d$/.test(key)) onTyped(pin.value + key);
    if (key === 'Backspace') onTyped(pin.value.slice(0, -1));
  }

  useLayoutEffect(() => listen('keydown', onKeyDown));

  return (
    <section class="pin-view">
      <span class="message-icon">
        <Icon name="lock" />
      </span>
      <h1>{t('pinTitle', { code: room.code })}</h1>
      <p class="pin-state" role="alert" data-wrong={((prompt.isWrong || isLocked) && !isChecking) || undefined}>
        <PinStatus room={room} prompt={prompt} isLocked={isLocked} isChecking={isChecking} />
      </p>
      <label class="pin-dots" dir="ltr" data-wrong={(prompt.isWrong && !isChecking) || undefined}>
        <span class="visually-hidden">{t('pinLabel')}</span>
        <input
          ref={field}
          type="password"
          inputMode="none"
          autocomplete="off"
          maxLength={4}
          readOnly={isDisabled}
          onInput={({ currentTarget }) => onTyped(currentTarget.value)}
        />
        {[0, 1, 2, 3].map((i) => (
          <i key={i} data-filled={i < pin.value.length || undefined} />
        ))}
      </label>
      <NumberPad typed={pin.value} isDisabled={isDisabled} onTyped={onTyped} />
    </section>
  );
}

type NumberPadProps = { typed: string; isDisabled: boolean; onTyped: (digits: string) => void };

function NumberPad({ typed, isDisabled, onTyped }: NumberPadProps) {
  const erase = () => onTyped(typed.slice(0, -1));
  return (
    <div class="pad" dir="ltr">
      {[...'1234567890'].map((digit) => (
        <Button key={digit} label={digit} disabled={isDisabled} onClick={() => onTyped(typed + digit)} />
      ))}
      <Button disabled={isDisabled || typed === ''} aria-label={t('pinBackspace')} onClick={erase}>
        <MoreIcon name="back" />
      </Button>
    </div>
  );
}

function PinStatus({ room, prompt, isLocked, isChecking }: PromptProps & { isLocked: boolean }) {
  const { connection } = room.phase.value;
  if (isLocked)
    return <Countdown until={prompt.lockedUntil ?? 0} format={(ms) => t('pinLocked', { time: roughTime(ms) })} />;
  if (isChecking) return connection.type === 'waiting' ? <RetryCountdown connection={connection} /> : t('pinChecking');
  if (!prompt.isWrong) return t('pinHint');
  if (!prompt.triesLeft) return t('pinWrong');
  return prompt.triesLeft === 1 ? t('pinWrongLastTry') : t('pinWrongTriesLeft', { n: prompt.triesLeft });
}
