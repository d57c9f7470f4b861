/** The menu with what one can do with the text. Loaded on demand. */
import { type Signal, useSignal } from '@preact/signals';
import { lazy } from '../../components/lazy.tsx';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { monospace } from '../../device/preferences.ts';
import { showText, textViewOf } from '../../device/text-view.ts';
import { t } from '../../i18n/all-strings.ts';
import type { TextViewProps } from './shared-field.ts';
import { replaceWithUndo, saveAsFile } from './text-actions.tsx';
import '../../style/print.css';

const HistoryDialog = lazy(() => import('./history-dialog.tsx'), 'HistoryDialog');

type MenuProps = TextViewProps & { anchor: Signal<HTMLElement | undefined> };

/** The menu beside Copy and Paste. A new entry goes into the list; a dialog that it opens is rendered here. */
export function TextMenu({ anchor, room, text, field }: MenuProps) {
  const isHistoryOpen = useSignal(false);
  const isEmpty = text.isEmpty.value;
  const isReading = textViewOf(room.code).value === 'read';
  const toggleReading = () => showText(room.code, isReading ? 'edit' : 'read');
  const toggleFont = () => (monospace.value = !monospace.value);
  const save = () => saveAsFile(room.code, text.shared.value);
  const clear = () => {
    field.current?.focus();
    replaceWithUndo(text.shared, '', t('cleared'));
  };
  const entries: MenuEntry[] = [
    { icon: 'read', label: t('readView'), isChecked: isReading, onSelect: toggleReading },
    { icon: 'screen', label: t('displayMode'), onSelect: () => showText(room.code, 'display') },
    { icon: 'history', label: t('history'), onSelect: () => (isHistoryOpen.value = true) },
    { icon: 'down', label: t('saveText'), isDisabled: isEmpty, onSelect: save },
    { icon: 'print', label: t('print'), isDisabled: isEmpty, onSelect: () => print() },
    { icon: 'mono', label: t('monospace'), isChecked: monospace.value, onSelect: toggleFont },
    { icon: 'erase', label: t('clear'), isDisabled: isEmpty, onSelect: clear },
  ];
  return (
    <>
      <Menu anchor={anchor} label={t('more')} entries={entries} />
      {isHistoryOpen.value && (
        <HistoryDialog room={room} text={text.shared} onClose={() => (isHistoryOpen.value = false)} />
      )}
    </>
  );
}
