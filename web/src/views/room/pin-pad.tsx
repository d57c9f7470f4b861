/** Asks for the PIN: by keyboard, or on a pad for thumbs. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { Countdown, useNow } from '../../components/ticking.tsx';
import { t } from '../../i18n/index.ts';
import { roughTime } from '../../i18n/quantities.ts';
import type { PinQuestion, RoomState } from '../../room/room.ts';
import { Waiting } from './alerts.tsx';

export function PinPad({ room, asked }: { room: RoomState; asked: PinQuestion }) {
  const pin = useSignal('');
  const checking = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  const locked = useLocked(asked.lockedUntil);
  const resting = locked || checking.value;

  // Before the next key can come: later, this would take the first digits away.
  useLayoutEffect(() => {
    checking.value = false;
    show('');
    field.current?.focus();
  }, [asked, locked]);

  function show(digits: string) {
    pin.value = digits;
    if (field.current) field.current.value = digits;
  }

  function type(text: string) {
    if (resting) return;
    show(text.replace(/\D/g, '').slice(0, 4));
    if (pin.value.length < 4) return;
    checking.value = true;
    room.enter(pin.value);
  }

  return (
    <section class="pin-view">
      <span class="outside-icon">
        <Icon name="lock" />
      </span>
      <h1>{t('pinTitle', { code: room.code })}</h1>
      <p class="pin-state" role="alert" data-wrong={((asked.wrong || locked) && !checking.value) || undefined}>
        <Verdict room={room} asked={asked} locked={locked} checking={checking.value} />
      </p>
      <label class="pin-dots" data-wrong={(asked.wrong && !checking.value) || undefined}>
        <span class="out-of-sight">{t('pinLabel')}</span>
        <input
          ref={field}
          type="password"
          inputMode="none"
          autocomplete="off"
          maxLength={4}
          readOnly={resting}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
        {[0, 1, 2, 3].map((i) => (
          <i key={i} data-filled={i < pin.value.length || undefined} />
        ))}
      </label>
      <div class="pad">
        {['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'].map((digit) => (
          <button key={digit} type="button" class="button" disabled={resting} onClick={() => type(pin.value + digit)}>
            {digit}
          </button>
        ))}
        <button
          type="button"
          class="button"
          disabled={resting || pin.value === ''}
          aria-label={t('pinBack')}
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
  asked: PinQuestion;
  locked: boolean;
  checking: boolean;
}

function Verdict({ room, asked, locked, checking }: State) {
  const link = room.link.value;
  if (locked)
    return <Countdown until={asked.lockedUntil ?? 0} words={(ms) => t('pinLocked', { time: roughTime(ms) })} />;
  if (checking) return link.is === 'waiting' ? <Waiting link={link} /> : t('pinChecking');
  if (!asked.wrong) return t('pinAsk');
  return asked.triesLeft ? t('pinWrongLeft', { n: asked.triesLeft }) : t('pinWrong');
}
