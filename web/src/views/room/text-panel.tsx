/** The text of the room and its tools. */
import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/text/shared-text.ts';
import { Button, Icon, IconButton } from '../../components/controls.tsx';
import { CopyButton, readClipboard } from '../../components/copy-button.tsx';
import { lazy } from '../../components/lazy.tsx';
import { MenuButton } from '../../components/menu-button.tsx';
import { notify } from '../../components/notices.tsx';
import { monospace } from '../../device/preferences.ts';
import { textViewOf } from '../../device/text-view.ts';
import { errorMessage, t } from '../../i18n/strings.ts';
import type { RoomModel, TextModel } from '../../room/room-phase.ts';
import { addFiles } from './add-files.tsx';
import { type Insert, type TextViewProps, useSharedField, useTextChanges } from './shared-field.ts';

const TextReader = lazy(() => import('../read/read-view.tsx'), 'TextReader');
const TextMenu = lazy(() => import('./text-actions.tsx'), 'TextMenu');

export function TextPanel({ room, text, field }: TextViewProps) {
  const insert = useSharedField(field, text.shared);
  usePasteAnywhere(insert);
  usePrintedText(field, text.shared);
  const isEditing = textViewOf(room.code).value === 'edit';
  return (
    <section class="text-panel" data-mono={monospace.value || undefined}>
      <header>
        <h2>
          <label for="text">{t('text')}</label>
        </h2>
        <Tools room={room} text={text} field={field} insert={insert} />
      </header>
      <textarea
        id="text"
        ref={field}
        // Browsers show the placeholder of a field without text from left to right if the direction is "auto".
        dir={text.isEmpty.value ? undefined : 'auto'}
        placeholder={t('textPlaceholder')}
        spellcheck={false}
        hidden={!isEditing}
        onBlur={text.flush}
      />
      {!isEditing && <TextReader room={room} text={text} field={field} />}
      {/* As high without links and status, so that nothing that others write moves what is below. */}
      <div class="below-text">
        <Links text={text.shared} />
        <TextStatus text={text} />
        <UndoTools text={text} />
      </div>
    </section>
  );
}

function Tools({ room, text, field, insert }: TextViewProps & { insert: Insert }) {
  return (
    <div class="tools">
      <CopyButton text={() => text.shared.value} label={t('copyAll')} disabled={text.isEmpty.value} />
      <PasteButton room={room} onText={insert} />
      <MenuButton
        menu={(anchor) => <TextMenu anchor={anchor} room={room} text={text} field={field} />}
        label={t('more')}
      >
        <Icon name="more" />
      </MenuButton>
    </div>
  );
}

/** They appear with the first edit of this device. */
function UndoTools({ text }: { text: TextModel }) {
  const isUsed = useRef(false);
  if (text.canUndo.value || text.canRedo.value) isUsed.current = true;
  if (!isUsed.current) return null;
  return (
    <>
      <HistoryButton command="undo" text={text} canRun={text.canUndo.value} />
      <HistoryButton command="redo" text={text} canRun={text.canRedo.value} />
    </>
  );
}

/** A click keeps the focus in the field. Uses aria-disabled, so that the button keeps it when nothing is left to undo. */
function HistoryButton({ command, text, canRun }: { command: 'undo' | 'redo'; text: TextModel; canRun: boolean }) {
  const keepFocus = (event: Event) => event.preventDefault();
  const run = () => canRun && text.shared[command]();
  return <IconButton icon={command} label={t(command)} aria-disabled={!canRun} onMouseDown={keepFocus} onClick={run} />;
}

/** A field prints only the lines that it shows, so a copy of the whole text takes its place. */
function usePrintedText(field: TextViewProps['field'], text: SharedText): void {
  useEffect(() => {
    const end = new AbortController();
    const copy = Object.assign(document.createElement('pre'), { className: 'printed-text', dir: 'auto' });
    const onBeforePrint = () => {
      copy.textContent = text.value;
      field.current?.after(copy);
    };
    addEventListener('beforeprint', onBeforePrint, end);
    addEventListener('afterprint', () => copy.remove(), end);
    return () => end.abort();
  }, [text]);
}

/** A paste outside of any field goes into the text. */
function usePasteAnywhere(insert: Insert): void {
  useLayoutEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const pasted = event.clipboardData?.getData('text/plain') ?? '';
      const otherField = (event.target as Element).closest('input, textarea, dialog');
      if (pasted === '' || otherField || event.defaultPrevented) return;
      event.preventDefault();
      insert(pasted);
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, []);
}

const icons = { saved: 'check', saving: undefined, offline: 'offline', refused: 'warning' } as const;

/** Shows whether the text is saved, unless there is none. */
function TextStatus({ text }: { text: TextModel }) {
  const { value: status } = text.status;
  const { value: refusal } = text.refusal;
  const icon = icons[status];
  const refused = refusal ? errorMessage(refusal) : t('saving');
  const message = status === 'refused' ? refused : t(status);
  return (
    <>
      <p class="status" data-status={status} hidden={status === 'saved' && text.isEmpty.value}>
        {icon ? <Icon name={icon} /> : <i class="dot" />}
        {message}
      </p>
      {/* Screen readers must not announce saving at every keystroke. */}
      <p class="visually-hidden" role="status">
        {(status === 'offline' || status === 'refused') && message}
      </p>
    </>
  );
}

/** Links further down are not shown: searching a large text after every change would be slow. */
const maxSearched = 100_000;
const searchIntervalMs = 200;

/** Without the code (offline), no links are shown. */
async function linksIn(text: string): Promise<ComponentChild> {
  if (!/\w\.\w|:\/\/|\d[\d ()./-]{5}/.test(text)) return null;
  const parts = await import('./link-list.tsx').catch(() => undefined);
  return parts?.linkList(text);
}

function Links({ text }: { text: SharedText }) {
  const list = useSignal<ComponentChild>(null);
  useTextChanges(text, searchIntervalMs, async () => {
    list.value = await linksIn(text.value.slice(0, maxSearched));
  });
  return <>{list.value}</>;
}

const PasteDialog = lazy(() => import('./dialogs.tsx'), 'PasteDialog');

/** Pastes text or an image. If the page cannot read the clipboard, such as over plain HTTP, a field takes the paste. */
function PasteButton({ room, onText }: { room: RoomModel; onText: Insert }) {
  const isOpen = useSignal(false);

  async function onClick() {
    const content = await readClipboard();
    if (!content) isOpen.value = true;
    else if (content.image) void addFiles(room, [{ file: content.image, isPasted: true }]);
    else if (content.text === '') notify(t('clipboardEmpty'));
    else onText(content.text);
  }

  return (
    <>
      <Button icon="paste" label={t('paste')} onClick={onClick} />
      {isOpen.value && <PasteDialog onText={onText} onClose={() => (isOpen.value = false)} />}
    </>
  );
}
