/** The menu with what one can do with the text. Loaded on demand. */
import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { lazy } from '../../components/lazy.tsx';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { monospace } from '../../device/preferences.ts';
import { showText, textViewOf } from '../../device/text-view.ts';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel, TextModel } from '../../room/room-phase.ts';
import { replaceWithUndo, saveAsFile } from './text-actions.tsx';
import '../../style/print.css';

const HistoryDialog = lazy(() => import('./history-dialog.tsx'), 'HistoryDialog');

interface MenuProps {
  anchor: Signal<HTMLElement | undefined>;
  room: RoomModel;
  text: TextModel;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** The menu beside Copy and Paste. A new entry goes into the list; a dialog that it opens is rendered here. */
export function TextMenu({ anchor, room, text, field }: MenuProps) {
  const isHistoryOpen = useSignal(false);
  const isEmpty = text.isEmpty.value;
  const isReading = textViewOf(room.code).value === 'read';
  const entries: MenuEntry[] = [
    {
      icon: 'read',
      label: t('readView'),
      isChecked: isReading,
      onSelect: () => showText(room.code, isReading ? 'edit' : 'read'),
    },
    {
      icon: 'screen',
      label: t('displayMode'),
      onSelect: () => showText(room.code, 'display'),
    },
    {
      icon: 'history',
      label: t('history'),
      onSelect: () => {
        isHistoryOpen.value = true;
      },
    },
    {
      icon: 'down',
      label: t('saveText'),
      isDisabled: isEmpty,
      onSelect: () => saveAsFile(room.code, text.shared.value),
    },
    { icon: 'print', label: t('print'), isDisabled: isEmpty, onSelect: () => print() },
    {
      icon: 'mono',
      label: t('monospace'),
      isChecked: monospace.value,
      onSelect: () => {
        monospace.value = !monospace.value;
      },
    },
    {
      icon: 'erase',
      label: t('clear'),
      isDisabled: isEmpty,
      onSelect: () => {
        field.current?.focus();
        replaceWithUndo(text.shared, '', t('cleared'));
      },
    },
  ];
  return (
    <>
      <Menu anchor={anchor} label={t('more')} entries={entries} />
      {isHistoryOpen.value && (
        <HistoryDialog
          room={room}
          text={text.shared}
          onClose={() => {
            isHistoryOpen.value = false;
          }}
        />
      )}
    </>
  );
}
