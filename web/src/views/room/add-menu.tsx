/** The menu that adds files: chosen ones, a folder, and the option for one-time files. Loaded on demand. */
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';
import { addFiles } from './add-files.tsx';

export function AddMenu({ anchor, room }: { anchor: Signal<HTMLElement | undefined>; room: RoomModel }) {
  const input = useRef<HTMLInputElement>(null);
  const { addsOnce } = room.uploads;
  const pick = (webkitdirectory: boolean) => {
    if (input.current) Object.assign(input.current, { webkitdirectory }).click();
  };
  const files: MenuEntry = { icon: 'file', label: t('chooseFiles'), onSelect: () => pick(false) };
  const folder: MenuEntry = { icon: 'folder', label: t('chooseFolder'), onSelect: () => pick(true) };
  const once: MenuEntry = {
    icon: 'once',
    label: t('deleteAfterDownload'),
    isChecked: addsOnce.value,
    onSelect: () => {
      addsOnce.value = !addsOnce.value;
    },
  };
  return (
    <>
      <Menu anchor={anchor} label={t('addFiles')} entries={canPickFolders() ? [files, folder, once] : [files, once]} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          void addFiles(room, pickedFiles(currentTarget.files));
          currentTarget.value = '';
        }}
      />
    </>
  );
}

/** Phones cannot. */
const canPickFolders = (): boolean => !matchMedia('(max-width: 40rem), (pointer: coarse)').matches;

/** A picker for folders names the path of each file: "photos/2026/a.jpg". */
function pickedFiles(files: FileList | null): IncomingFile[] {
  return Array.from(files ?? [], (file) => ({ file, folder: file.webkitRelativePath.replace(/\/?[^/]*$/, '') }));
}
