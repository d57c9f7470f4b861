/** Asks for the PIN: by keyboard, or on a pad for thumbs. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { useNow } from '../../parts/ticking.ts';
import type { RoomState } from '../../room/room.ts';
import { t } from '../../words/index.ts';
import { roughTime } from '../../words/quantities.ts';

interface Props {
  room: RoomState;
  triesLeft: number | undefined;
  wrong: boolean;
  lockedUntil: number | undefined;
}

export function PinPad({ room, triesLeft, wrong, lockedUntil }: Props) {
  const now = useNow();
  const pin = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const locked = lockedUntil !== undefined && now < lockedUntil;
  useEffect(() => {
    if (!locked) field.current?.focus();
  }, [locked]);

  function type(text: string) {
    pin.value = text.replace(/\D/g, '').slice(0, 4);
    if (field.current) field.current.value = pin.value;
    if (pin.value.length === 4) room.enter(pin.value);
  }

  return (
    <section class="pin-view">
      <span class="outside-icon">
        <Icon name="lock" />
      </span>
      <h1>{t('pinTitle', { code: room.code })}</h1>
      <p class="pin-state" role="alert">
        {locked ? t('pinLocked', { time: roughTime(lockedUntil - now) }) : verdict(wrong, triesLeft)}
      </p>
      <label class="pin-dots" data-length={pin.value.length}>
        <span class="out-of-sight">{t('pinLabel')}</span>
        <input
          ref={field}
          type="password"
          inputMode="none"
          autocomplete="off"
          maxLength={4}
          disabled={locked}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
        {[0, 1, 2, 3].map((i) => (
          <i key={i} data-filled={i < pin.value.length || undefined} />
        ))}
      </label>
      <div class="pad">
        {['1', '2', '3', '4', '5', '6', '7', '8', '9'].map((digit) => (
          <button key={digit} type="button" class="button" disabled={locked} onClick={() => type(pin.value + digit)}>
            {digit}
          </button>
        ))}
        <span />
        <button type="button" class="button" disabled={locked} onClick={() => type(`${pin.value}0`)}>
          0
        </button>
        <button
          type="button"
          class="button"
          disabled={locked || pin.value === ''}
          aria-label={t('pinBack')}
          onClick={() => type(pin.value.slice(0, -1))}
        >
          <Icon name="back" />
        </button>
      </div>
    </section>
  );
}

function verdict(wrong: boolean, triesLeft: number | undefined): string {
  if (!wrong) return t('pinAsk');
  return triesLeft === undefined ? t('pinWrong') : t('pinWrongLeft', { n: triesLeft });
}
