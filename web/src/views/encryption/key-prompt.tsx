/** Asks for the key of an encrypted room. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Countdown, useNow } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { knownRoom } from '../../device/recent-rooms.ts';
import { keyIn, takeRoom } from '../../device/room-keys.ts';
import { t } from '../../i18n/all-strings.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { prepareKeys } from '../../room/encryption.ts';
import { goToRoom } from '../../router.ts';
import { RetryCountdown } from '../room/alerts.tsx';
import type { PromptProps } from '../room/pin-pad.tsx';
import { groupKey, KeepKeyOption } from './room-key.tsx';
import '../../style/encryption.css';
import '../../style/forms.css';

export function KeyPrompt({ room, prompt, isChecking }: PromptProps) {
  const typed = useSignal('');
  const keepsKey = useSignal(false);
  const isMissing = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  const isLocked = useNow() < (prompt.lockedUntil ?? 0);

  // A key with a typo stays, to be corrected.
  useLayoutEffect(() => field.current?.select(), [prompt, isLocked]);

  function open(text: string): void {
    if (isLocked || isChecking) return;
    isMissing.value = text.trim() === '';
    if (isMissing.value) return void field.current?.focus();
    const linked = keyIn(text) && takeRoom(text);
    if (linked && linked !== room.code) goToRoom(linked);
    else room.join({ key: keyIn(text) ?? text, keepsKey: keepsKey.value });
  }

  function onSubmit(event: Event): void {
    event.preventDefault();
    open(typed.value);
  }

  const isWrong = (prompt.isWrong || isLocked || isMissing.value) && !isChecking;
  return (
    <form class="pin-view key-view" onSubmit={onSubmit}>
      <span class="message-icon">
        <Icon name="lock" />
      </span>
      <h1>{t('keyTitle', { code: room.code })}</h1>
      <p class="pin-state" id="key-state" role="alert" data-wrong={isWrong || undefined}>
        <KeyStatus {...{ room, prompt, isChecking, isLocked }} isMissing={isMissing.value} />
      </p>
      <label class="field">
        <span>{t('keyLabel')}</span>
        <input
          ref={field}
          class="key-input"
          type="text"
          dir="ltr"
          lang="en"
          autocomplete="off"
          autoCapitalize="characters"
          autoCorrect="off"
          spellcheck={false}
          enterKeyHint="go"
          placeholder="H4T9-WZ3B-NQ6Y-RC88"
          readOnly={isLocked || isChecking}
          aria-invalid={prompt.isWrong}
          aria-describedby="key-state"
          value={typed.value}
          onInput={({ currentTarget, isComposing }) => {
            if (!isComposing) groupTyped(currentTarget);
            typed.value = currentTarget.value;
            void prepareKeys(room.code, currentTarget.value);
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData('text') ?? '';
            if (!keyIn(pasted)) return;
            event.preventDefault();
            typed.value = pasted;
            open(pasted);
          }}
        />
      </label>
      <KeepKeyOption isKept={keepsKey.value} hint={t('keepKeyHint')} onChange={(isKept) => (keepsKey.value = isKept)} />
      <button type="submit" class="button primary large" aria-disabled={isLocked || isChecking}>
        {t('openRoom')}
        <Icon name="arrow" />
      </button>
    </form>
  );
}

/** Groups the symbols while they are typed. The caret stays after the same symbol. A link stays as it is. */
function groupTyped(field: HTMLInputElement): void {
  const { value, selectionEnd } = field;
  if (!/^[0-9a-z\s\p{Pd}]*$/iu.test(value)) return;
  const grouped = groupKey(symbolsIn(value));
  if (grouped === value) return;
  const caret = groupKey(symbolsIn(value.slice(0, selectionEnd ?? value.length))).length;
  field.value = grouped;
  field.setSelectionRange(caret, caret);
}

const symbolsIn = (typed: string): string => typed.replace(/[\s\p{Pd}]/gu, '').toUpperCase();

type StatusProps = PromptProps & { isLocked: boolean; isMissing: boolean };

function KeyStatus({ room, prompt, isChecking, isLocked, isMissing }: StatusProps) {
  const { connection } = room.phase.value;
  if (isLocked) {
    const format = (ms: number) => t('keyLocked', { time: roughTime(ms) });
    return <Countdown until={prompt.lockedUntil ?? 0} format={format} />;
  }
  if (isChecking) return connection.type === 'waiting' ? <RetryCountdown connection={connection} /> : t('keyChecking');
  if (isMissing || prompt.code === 'KEY_MALFORMED') return t('keyMalformed');
  if (prompt.code === 'KEY_MISTYPED') return t('keyMistyped');
  if (!prompt.isWrong) return t(knownRoom(room.code)?.isOwn ? 'keyHintOwn' : 'keyHint');
  return prompt.triesLeft ? t('keyWrongTriesLeft', { n: prompt.triesLeft }) : t('keyWrong');
}
