/** Fields of forms: a new PIN, and a choice between a few values. */
import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useId, useLayoutEffect } from 'preact/hooks';
import { t, toAsciiDigits } from '../i18n/strings.ts';
import '../style/forms.css';

/** For a room code or key, which the browser must not change. */
const asTyped = { autocomplete: 'off', autoCapitalize: 'characters', autoCorrect: 'off', spellcheck: false } as const;
export const codeInput = { ...asTyped, type: 'text', dir: 'ltr', lang: 'en', enterKeyHint: 'go' } as const;

export const isPin = (text: string): boolean => /^\d{4}$/.test(text);

/** A field for a new PIN, which the user has just asked for. */
export function PinField({ pin, field }: { pin: Signal<string>; field: RefObject<HTMLInputElement | null> }) {
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <label class="field">
      <span>{t('pinLabel')}</span>
      <input
        ref={field}
        class="pin-input"
        type="text"
        dir="ltr"
        inputMode="numeric"
        autocomplete="off"
        maxLength={4}
        value={pin.value}
        placeholder="••••"
        aria-describedby="pin-hint"
        onInput={({ currentTarget }) => {
          pin.value = toAsciiDigits(currentTarget.value).replace(/\D/g, '').slice(0, 4);
          currentTarget.value = pin.value;
        }}
      />
      <small id="pin-hint">{t('pinRequired')}</small>
    </label>
  );
}

interface Props<T extends string | number> {
  legend: string;
  chosen: Signal<T>;
  /** The values and their labels. */
  options: readonly (readonly [T, string])[];
}

export function RadioGroup<T extends string | number>({ legend, chosen, options }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="radio-group">
      <legend>{legend}</legend>
      <div class="radio-options">
        {options.map(([option, label]) => (
          <label key={option}>
            <input
              type="radio"
              name={name}
              checked={option === chosen.value}
              onChange={() => (chosen.value = option)}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
