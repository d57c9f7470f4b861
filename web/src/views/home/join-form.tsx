/** Joins a room by its code, a pasted link, or the camera. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button, Problem } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { takeRoom } from '../../device/room-keys.ts';
import { t } from '../../i18n/strings.ts';
import { goToRoom, parseCodeOrLink } from '../../router.ts';

const Scanner = lazy(() => import('./scanner.tsx'), 'Scanner');

/** Longer than the pause between two symbols that someone reads from another screen. */
const typedMs = 1_000;

export function JoinForm({ onJoin = goToRoom }: { onJoin?: (code: string) => void }) {
  const typed = useSignal('');
  const problem = useSignal('');
  const field = useRef<HTMLInputElement>(null);

  // A code that is typed in full needs no button. Some codes are longer, so the user may still be typing.
  useEffect(() => {
    if (!parseCodeOrLink(typed.value)) return;
    const timer = setTimeout(() => join(typed.value), typedMs);
    return () => clearTimeout(timer);
  }, [typed.value]);

  // A link that is pasted anywhere on the page, also beside the field.
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData?.getData('text') ?? '';
    const isExpected = event.target === field.current || pasted.includes('/r/');
    if (isExpected && join(pasted)) event.preventDefault();
  };
  useEffect(() => listen('paste', onPaste), []);

  function join(text: string): boolean {
    const code = takeRoom(text);
    if (code) onJoin(code);
    return code !== undefined;
  }

  function onSubmit(event: Event) {
    event.preventDefault();
    if (join(typed.value)) return;
    problem.value = typed.value.trim() === '' ? t('codeMissing') : t('codeInvalid');
    field.current?.focus();
  }

  return (
    <form class="card home-card" onSubmit={onSubmit}>
      <h2>{t('joinTitle')}</h2>
      <label class="field">
        <span>{t('codeLabel')}</span>
        <input
          ref={field}
          class="code-input"
          type="text"
          name="code"
          dir="ltr"
          lang="en"
          autocomplete="off"
          autoCapitalize="characters"
          autoCorrect="off"
          spellcheck={false}
          enterKeyHint="go"
          placeholder="7KQ 2MX"
          value={typed.value}
          aria-invalid={problem.value !== ''}
          aria-describedby="code-problem"
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
            problem.value = '';
          }}
        />
      </label>
      <div class="actions">
        <button type="submit" class="button large grow">
          {t('join')}
          <Icon name="arrow" />
        </button>
        {canScan() && <ScanButton onFound={onJoin} />}
      </div>
      <Problem id="code-problem">{problem.value}</Problem>
    </form>
  );
}

function ScanButton({ onFound }: { onFound: (code: string) => void }) {
  const isOpen = useSignal(false);
  const label = t('scan');
  return (
    <>
      <Button class="large" icon="camera" aria-label={label} title={label} onClick={() => (isOpen.value = true)} />
      {isOpen.value && <Scanner onFound={onFound} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

/** Whether this browser lets the page use a camera. It does not over plain HTTP. */
const canScan = (): boolean => typeof navigator.mediaDevices?.getUserMedia === 'function';
