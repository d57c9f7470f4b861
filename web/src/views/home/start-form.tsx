/** Starts a room with one click. A PIN and a lifetime are optional. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { PoproomError } from '../../../../src/client/light.ts';
import { Icon } from '../../components/icon.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { rememberRoom, savePin } from '../../device/recent-rooms.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { t } from '../../i18n/index.ts';
import { exactTime } from '../../i18n/quantities.ts';
import { limits } from '../../limits.ts';
import { goToRoom } from '../../router.ts';
import { connectToServer } from '../../server.ts';

/** Seconds: the server's default and common values up to its maximum. */
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
      problem.value = t('pinInvalid');
      pinField.current?.closest('details')?.setAttribute('open', '');
      pinField.current?.focus();
      return;
    }
    busy.value = true;
    problem.value = '';
    try {
      onStart(await create(wantsPin.value ? pin.value : undefined, lifetime.value));
    } catch (error) {
      problem.value = error instanceof PoproomError ? errorMessage(error) : String(error);
    }
    busy.value = false;
  }

  return (
    <form class="card home-card" onSubmit={start} noValidate>
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
        <RadioGroup
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
          <span>{t('requirePin')}</span>
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
            <small id="pin-hint">{t('pinRequired')}</small>
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
  rememberRoom({ code, expiresAt: Date.parse(expiresAt), hasPin });
  savePin(code, pin);
  return code;
}
