/** The text of the room, and what can be done with it. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { monospace } from '../../device/preferences.ts';
import { canPaste, pasteText } from '../../parts/clipboard.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { later } from '../../parts/later.tsx';
import { notify } from '../../parts/notices.tsx';
import type { SharedText, TextStatus } from '../../room/shared-text.ts';
import { t } from '../../words/index.ts';
import { problemText } from '../../words/problem.ts';
import { Links } from './links.tsx';
import { useSharedField } from './shared-field.ts';

const Unplaced = later(async () => (await import('./unplaced.tsx')).Unplaced);

export function TextPanel({ text }: { text: SharedText }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useSharedField(field, text);
  usePasteAnywhere(field);
  const value = text.value.value;

  async function paste() {
    const pasted = await pasteText();
    if (pasted === undefined) notify(t('pasteRefused'));
    else insert(field.current, pasted);
  }

  function clear() {
    const before = value;
    text.edit('');
    notify(t('cleared'), () => text.edit(text.value.value === '' ? before : `${before}\n${text.value.value}`));
    field.current?.focus();
  }

  return (
    <section class="text-panel" data-mono={monospace.value || undefined}>
      <header>
        <h2>
          <label for="text">{t('text')}</label>
        </h2>
        <Status text={text} />
      </header>
      <textarea
        id="text"
        ref={field}
        defaultValue={value}
        placeholder={t('textPlaceholder')}
        spellcheck={false}
        onBlur={text.flush}
      />
      <div class="tools">
        <CopyButton text={value} label={t('copyAll')} disabled={value === ''} />
        {canPaste() && (
          <button type="button" class="button" onClick={paste}>
            <Icon name="paste" />
            {t('paste')}
          </button>
        )}
        <button type="button" class="button" onClick={clear} disabled={value === ''}>
          <Icon name="erase" />
          {t('clear')}
        </button>
        <button
          type="button"
          class="button round"
          aria-pressed={monospace.value}
          aria-label={t('monospace')}
          title={t('monospace')}
          onClick={() => {
            monospace.value = !monospace.value;
          }}
        >
          <Icon name="mono" />
        </button>
      </div>
      <Links text={value} />
      {text.unplaced.value.length > 0 && <Unplaced text={text} />}
    </section>
  );
}

const statusIcons: Record<TextStatus, IconName | undefined> = {
  saved: 'check',
  sending: undefined,
  offline: 'offline',
  refused: 'warning',
};

const statusWords = { saved: 'saved', sending: 'sending', offline: 'offline', refused: 'sending' } as const;

function Status({ text }: { text: SharedText }) {
  const status = text.status.value;
  const icon = statusIcons[status];
  return (
    <p class="status" data-status={status} role="status">
      {icon ? <Icon name={icon} /> : <i class="dot" />}
      {status === 'refused' && text.refusal.value ? problemText(text.refusal.value) : t(statusWords[status])}
    </p>
  );
}

/** Who pastes without having chosen a field means this one. */
function usePasteAnywhere(field: { current: HTMLTextAreaElement | null }): void {
  useLayoutEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const pasted = event.clipboardData?.getData('text/plain') ?? '';
      const elsewhere = (event.target as Element).closest('input, textarea, dialog');
      if (pasted === '' || elsewhere || event.defaultPrevented) return;
      event.preventDefault();
      insert(field.current, pasted);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
}

/** Where the cursor is. */
function insert(field: HTMLTextAreaElement | null, pasted: string): void {
  if (!field) return;
  field.setRangeText(pasted, field.selectionStart, field.selectionEnd, 'end');
  field.dispatchEvent(new InputEvent('input'));
  field.focus();
}
