/** The text of the room, and what can be done with it. */
import { useEffect, useRef } from 'preact/hooks';
import { monospace } from '../../device/preferences.ts';
import { limits } from '../../limits.ts';
import { canPaste, pasteText } from '../../parts/clipboard.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { later } from '../../parts/later.tsx';
import { notify } from '../../parts/notices.tsx';
import type { SharedText, TextStatus } from '../../room/shared-text.ts';
import { t } from '../../words/index.ts';
import { size } from '../../words/quantities.ts';
import { Links } from './links.tsx';
import { changeBetween } from './text-change.ts';

const Unplaced = later(async () => (await import('./unplaced.tsx')).Unplaced);

export function TextPanel({ text }: { text: SharedText }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useSharedValue(field, text);
  const value = text.value.value;

  async function paste() {
    const pasted = await pasteText();
    if (pasted === undefined) notify(t('pasteRefused'));
    else insert(field.current, pasted, text);
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
        <Status status={text.status.value} />
      </header>
      <textarea
        id="text"
        ref={field}
        defaultValue={value}
        placeholder={t('textPlaceholder')}
        spellcheck={false}
        onInput={({ currentTarget }) => text.edit(currentTarget.value)}
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
  'too-long': 'warning',
  refused: 'warning',
};

function Status({ status }: { status: TextStatus }) {
  const icon = statusIcons[status];
  const words: Record<TextStatus, string> = {
    saved: t('saved'),
    sending: t('sending'),
    offline: t('offline'),
    'too-long': t('textTooLong', { size: size(limits.contentMax) }),
    refused: t('notSaved'),
  };
  return (
    <p class="status" data-status={status} role="status">
      {icon ? <Icon name={icon} /> : <i class="dot" />}
      {words[status]}
    </p>
  );
}

/** Puts what comes from elsewhere into the field without moving the person's cursor. */
function useSharedValue(field: { current: HTMLTextAreaElement | null }, text: SharedText): void {
  useEffect(() => {
    const show = () => {
      const element = field.current;
      if (!element || composing) return;
      const change = changeBetween(element.value, text.value.value);
      if (change) element.setRangeText(change.text, change.from, change.to, 'preserve');
    };
    // While an input method is at work, changing the field would break the word that is being made.
    let composing = false;
    const begin = () => {
      composing = true;
    };
    const end = () => {
      composing = false;
      show();
    };
    const element = field.current;
    element?.addEventListener('compositionstart', begin);
    element?.addEventListener('compositionend', end);
    const stop = text.value.subscribe(show);
    return () => {
      element?.removeEventListener('compositionstart', begin);
      element?.removeEventListener('compositionend', end);
      stop();
    };
  }, [text]);
}

/** Where the cursor is. */
function insert(field: HTMLTextAreaElement | null, pasted: string, text: SharedText): void {
  if (!field) return;
  field.setRangeText(pasted, field.selectionStart, field.selectionEnd, 'end');
  text.edit(field.value);
  field.focus();
}
