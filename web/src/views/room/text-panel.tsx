/** The text of the room, and what can be done with it. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { canPaste, pasteText } from '../../components/clipboard.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { notify } from '../../components/notices.tsx';
import { monospace } from '../../device/preferences.ts';
import { t } from '../../i18n/index.ts';
import type { RoomState } from '../../room/room.ts';
import type { TextModel } from '../../room/text-model.ts';
import { Links } from './links.tsx';
import { replaceUndoably } from './replace-undoably.ts';
import { type SharedField, useSharedField } from './shared-field.ts';
import { TextStatus } from './text-status.tsx';

const HistoryDialog = lazy(async () => (await import('./history-dialog.tsx')).HistoryDialog);

export function TextPanel({ room, text }: { room: RoomState; text: TextModel }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const bound = useSharedField(field, text.shared);
  usePasteAnywhere(bound);
  const isHistoryOpen = useSignal(false);
  return (
    <section class="text-panel" data-mono={monospace.value || undefined}>
      <header>
        <h2>
          <label for="text">{t('text')}</label>
        </h2>
        <TextStatus text={text} />
      </header>
      <textarea id="text" ref={field} placeholder={t('textPlaceholder')} spellcheck={false} onBlur={text.flush} />
      <Tools
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

interface ToolsProps {
  text: TextModel;
  field: { current: HTMLTextAreaElement | null };
  bound: { current: SharedField | undefined };
  onHistory: () => void;
}

function Tools({ text, field, bound, onHistory }: ToolsProps) {
  async function paste() {
    const pasted = await pasteText();
    if (pasted === undefined) notify(t('pasteRefused'));
    else bound.current?.insert(pasted);
  }

  function clear() {
    field.current?.focus();
    replaceUndoably(text.shared, '', t('cleared'));
  }

  return (
    <div class="tools">
      <CopyButton text={() => text.shared.value} label={t('copyAll')} disabled={text.isEmpty.value} />
      {canPaste() && (
        <button type="button" class="button" onClick={paste}>
          <Icon name="paste" />
          {t('paste')}
        </button>
      )}
      <button type="button" class="button" onClick={clear} disabled={text.isEmpty.value}>
        <Icon name="erase" />
        {t('clear')}
      </button>
      <div class="icon-tools">
        <IconTool
          icon="undo"
          label={t('undo')}
          isOff={!text.canUndo.value}
          leavesFocus
          onUse={() => bound.current?.undo()}
        />
        <IconTool
          icon="redo"
          label={t('redo')}
          isOff={!text.canRedo.value}
          leavesFocus
          onUse={() => bound.current?.redo()}
        />
        <IconTool icon="history" label={t('history')} onUse={onHistory} />
        <IconTool
          icon="mono"
          label={t('monospace')}
          isPressed={monospace.value}
          onUse={() => {
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
  onUse: () => void;
  isOff?: boolean;
  isPressed?: boolean | undefined;
  /** A click leaves the focus in the field, and a phone its keyboard. */
  leavesFocus?: boolean;
}

/** One that is off can have the focus: it does not lose it when there is nothing more to undo. */
function IconTool({ icon, label, onUse, isOff = false, isPressed, leavesFocus = false }: IconToolProps) {
  return (
    <button
      type="button"
      class="button round"
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      aria-disabled={isOff}
      onMouseDown={leavesFocus ? (event) => event.preventDefault() : undefined}
      onClick={isOff ? undefined : onUse}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A paste outside of any field is meant for this one. */
function usePasteAnywhere(bound: { current: SharedField | undefined }): void {
  useLayoutEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const pasted = event.clipboardData?.getData('text/plain') ?? '';
      const elsewhere = (event.target as Element).closest('input, textarea, dialog');
      if (pasted === '' || elsewhere || event.defaultPrevented) return;
      event.preventDefault();
      bound.current?.insert(pasted);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
}
