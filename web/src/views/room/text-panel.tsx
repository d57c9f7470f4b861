/** The text of the room and its tools. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { monospace } from '../../device/preferences.ts';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room.ts';
import type { TextModel } from '../../room/text-model.ts';
import { Links } from './links.tsx';
import { PasteButton } from './paste-button.tsx';
import { replaceWithUndo } from './replace-with-undo.ts';
import { type SharedField, useSharedField } from './shared-field.ts';
import { saveAsFile, usePrintedText } from './text-file.ts';
import { TextStatus } from './text-status.tsx';

const HistoryDialog = lazy(() => import('./dialogs.ts'), 'HistoryDialog');

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
