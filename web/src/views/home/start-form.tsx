/** A new room, with one click; a PIN and a lifetime for those who want them. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/light.ts';
import { goToRoom } from '../../address.ts';
import { Choice } from '../../components/choice.tsx';
import { Icon } from '../../components/icon.tsx';
import { keepPin, remember } from '../../device/recent-rooms.ts';
import { t } from '../../i18n/index.ts';
import { problemText } from '../../i18n/problem.ts';
import { exactTime } from '../../i18n/quantities.ts';
import { limits } from '../../limits.ts';
import { connectToServer } from '../../server.ts';

/** Seconds: the server's own, and those around it that it allows. */
const lifetimes = [...new Set([600, 3600, 86_400, 604_800, limits.roomTtl])]
  .filter((seconds) => seconds <= limits.roomMaxTtl)
  .sort((a, b) => a - b);

export function StartForm({ onStart = goToRoom }: { onStart?: (code: string) => void }) {
  const pin = useSignal('');
  const wantsPin = useSignal(false);
  const lifetime = useSignal(limits.roomTtl);
  const busy = useSignal(false);
  const problem = useSignal('');
  const pinField = useRef<HTMLInputElement>(null);

  async function start(event: Event) {
    event.preventDefault();
    if (busy.value) return;
    if (wantsPin.value && !/^\d{4}$/.test(pin.value)) {
      problem.value = t('pinFourDigits');
      pinField.current?.closest('details')?.setAttribute('open', '');
      pinField.current?.focus();
      return;
    }
    busy.value = true;
    problem.value = '';
    try {
      onStart(await create(wantsPin.value ? pin.value : undefined, lifetime.value));
    } catch (error) {
      problem.value = error instanceof PoproomError ? problemText(error) : String(error);
    }
    busy.value = false;
  }

  return (
    <form class="card door" onSubmit={start} noValidate>
      <h2>{t('startTitle')}</h2>
      <button type="submit" class="button primary large" aria-disabled={busy.value}>
        <Icon name="plus" />
        {busy.value ? t('starting') : t('start')}
      </button>
      <details class="options">
        <summary>
          {t('options')}
          <Icon name="unfold" />
        </summary>
        <Choice
          legend={t('lifetime')}
          value={lifetime.value}
          options={lifetimes.map((seconds) => [seconds, exactTime(seconds)] as const)}
          onChoose={(seconds) => {
            lifetime.value = seconds;
          }}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={wantsPin.value}
            onChange={({ currentTarget }) => {
              wantsPin.value = currentTarget.checked;
              problem.value = '';
            }}
          />
          <span>{t('protectWithPin')}</span>
        </label>
        {wantsPin.value && (
          <label class="field">
            <span>{t('pinLabel')}</span>
            <input
              ref={pinField}
              class="pin-input"
              type="text"
              inputMode="numeric"
              autocomplete="off"
              maxLength={4}
              value={pin.value}
              placeholder="0000"
              aria-describedby="pin-hint"
              onInput={({ currentTarget }) => {
                pin.value = currentTarget.value.replace(/\D/g, '').slice(0, 4);
                currentTarget.value = pin.value;
              }}
            />
            <small id="pin-hint">{t('pinHint')}</small>
          </label>
        )}
      </details>
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </form>
  );
}

async function create(pin: string | undefined, seconds: number): Promise<string> {
  const expiresIn = seconds === limits.roomTtl ? undefined : seconds;
  const request = { ...(pin && { pin }), ...(expiresIn && { expiresIn }) };
  const { code, expiresAt, hasPin } = await connectToServer().createRoom(request);
  remember({ code, expiresAt: Date.parse(expiresAt), hasPin });
  keepPin(code, pin);
  return code;
}
