/** A field for a new PIN, which the user has just asked for. */
import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { toAsciiDigits } from '../i18n/digits.ts';
import { t } from '../i18n/strings.ts';
import '../style/forms.css';

export const isPin = (text: string): boolean => /^\d{4}$/.test(text);

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
