/** The text of the room and its tools. */
import { useSignal } from '@preact/signals';
import type { ComponentChild, RefObject } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/text/shared-text.ts';
import { CopyButton, readClipboard } from '../../components/copy-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { notify } from '../../components/notices.tsx';
import { monospace } from '../../device/preferences.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { t } from '../../i18n/strings.ts';
import type { RoomModel, TextStatus as Status, TextModel } from '../../room/room-phase.ts';
import { addFiles } from './add-files.tsx';
import { type SharedField, useSharedField } from './shared-field.ts';
import { replaceWithUndo, saveAsFile, usePrintedText } from './text-actions.tsx';

const HistoryDialog = lazy(() => import('./history-dialog.tsx'), 'HistoryDialog');

interface Props {
  room: RoomModel;
  text: TextModel;
  field: RefObject<HTMLTextAreaElement | null>;
}

export function TextPanel({ room, text, field }: Props) {
  const bound = useSharedField(field, text.shared);
  usePasteAnywhere(bound);
  usePrintedText(field, text.shared);
  const isHistoryOpen = useSignal(false);
  return (
    <section class="text-panel" data-mono={monospace.value || undefined}>
      <header>
        <h2>
          <label for="text">{t('text')}</label>
        </h2>
        <TextStatus text={text} />
      </header>
      <textarea
        id="text"
        ref={field}
        // Browsers show the placeholder of a field without text from left to right if the direction is "auto".
        dir={text.isEmpty.value ? undefined : 'auto'}
        placeholder={t('textPlaceholder')}
        spellcheck={false}
        onBlur={text.flush}
      />
      <Tools
        room={room}
        text={text}
        field={field}
        bound={bound}
        onHistory={() => {
          isHistoryOpen.value = true;
        }}
      />
      <Links text={text.shared} />
      {isHistoryOpen.value && (
        <HistoryDialog
          room={room}
          text={text.shared}
          onClose={() => {
            isHistoryOpen.value = false;
          }}
        />
      )}
    </section>
  );
}

interface ToolsProps extends Props {
  bound: { current: SharedField | undefined };
  onHistory: () => void;
}

function Tools({ room, text, field, bound, onHistory }: ToolsProps) {
  function onClear() {
    field.current?.focus();
    replaceWithUndo(text.shared, '', t('cleared'));
  }

  return (
    <div class="tools">
      <CopyButton text={() => text.shared.value} label={t('copyAll')} disabled={text.isEmpty.value} />
      <PasteButton room={room} onText={(pasted) => bound.current?.insert(pasted)} />
      <button type="button" class="button" onClick={onClear} disabled={text.isEmpty.value}>
        <Icon name="erase" />
        {t('clear')}
      </button>
      <div class="icon-tools">
        <IconTool
          icon="undo"
          label={t('undo')}
          isDisabled={!text.canUndo.value}
          keepsFocus
          onPress={() => bound.current?.undo()}
        />
        <IconTool
          icon="redo"
          label={t('redo')}
          isDisabled={!text.canRedo.value}
          keepsFocus
          onPress={() => bound.current?.redo()}
        />
        <IconTool
          icon="down"
          label={t('saveText')}
          isDisabled={text.isEmpty.value}
          onPress={() => saveAsFile(room.code, text.shared.value)}
        />
        <IconTool icon="history" label={t('history')} onPress={onHistory} />
        <IconTool
          icon="mono"
          label={t('monospace')}
          isPressed={monospace.value}
          onPress={() => {
            monospace.value = !monospace.value;
          }}
        />
      </div>
    </div>
  );
}

interface IconToolProps {
  icon: IconName;
  label: string;
  onPress: () => void;
  isDisabled?: boolean;
  isPressed?: boolean | undefined;
  /** A click keeps the focus in the field, and the keyboard of a phone open. */
  keepsFocus?: boolean;
}

/** Uses aria-disabled, so that the button keeps the focus when there is nothing left to undo. */
function IconTool({ icon, label, onPress, isDisabled = false, isPressed, keepsFocus = false }: IconToolProps) {
  return (
    <button
      type="button"
      class="button round"
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      aria-disabled={isDisabled}
      onMouseDown={keepsFocus ? (event) => event.preventDefault() : undefined}
      onClick={isDisabled ? undefined : onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A paste outside of any field goes into the text. */
function usePasteAnywhere(bound: { current: SharedField | undefined }): void {
  useLayoutEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const pasted = event.clipboardData?.getData('text/plain') ?? '';
      const otherField = (event.target as Element).closest('input, textarea, dialog');
      if (pasted === '' || otherField || event.defaultPrevented) return;
      event.preventDefault();
      bound.current?.insert(pasted);
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, []);
}

const icons: Record<Status, IconName | undefined> = {
  saved: 'check',
  saving: undefined,
  offline: 'offline',
  refused: 'warning',
};

/** Shows whether the text is saved. */
function TextStatus({ text }: { text: TextModel }) {
  const status = text.status.value;
  const icon = icons[status];
  const message = messageOf(status, text);
  return (
    <>
      <p class="status" data-status={status}>
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

function messageOf(status: Status, { refusal }: TextModel): string {
  if (status === 'refused') return refusal.value ? errorMessage(refusal.value) : t('saving');
  return t(status);
}

/** Links further down are not shown: searching a large text after every change would be slow. */
const maxSearched = 100_000;
/** Search at most this often. */
const searchIntervalMs = 200;

/** Without the code (offline), no links are shown. */
async function linksIn(text: string): Promise<ComponentChild> {
  if (!/\w\.\w|:\/\/|\d[\d ()./-]{5}/.test(text)) return null;
  return import('./link-list.tsx').then(
    ({ linkList }) => linkList(text),
    () => null,
  );
}

function Links({ text }: { text: SharedText }) {
  const list = useSignal<ComponentChild>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const search = async () => {
      timer = undefined;
      list.value = await linksIn(text.value.slice(0, maxSearched));
    };
    const searchSoon = () => {
      timer ??= setTimeout(search, searchIntervalMs);
    };
    searchSoon();
    const stop = text.on('change', searchSoon);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [text]);
  return <>{list.value}</>;
}

const PasteDialog = lazy(() => import('./dialogs.tsx'), 'PasteDialog');

interface PasteButtonProps {
  room: RoomModel;
  onText: (text: string) => void;
}

/** Pastes text or an image. If the page cannot read the clipboard, such as over plain HTTP, a field takes the paste. */
function PasteButton({ room, onText }: PasteButtonProps) {
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
      <button type="button" class="button" onClick={onClick}>
        <Icon name="paste" />
        {t('paste')}
      </button>
      {isOpen.value && (
        <PasteDialog
          onText={onText}
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}
