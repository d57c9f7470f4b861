/** The file panel: its head with the menu that adds files, and the list, which is loaded with the first file. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { MenuButton } from '../../components/menu-button.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { PendingFiles } from './file-placeholder.tsx';

export const loadFileList = () => import('../files/file-list.tsx');

const AddMenu = lazy(() => import('./dialogs.tsx'), 'AddMenu');
const FileList = lazy(loadFileList, 'FileList', PendingFiles);

export function FilePanel({ room }: { room: RoomModel }) {
  const { addsOnce, list } = room.uploads;
  const { files } = room.content.value;
  const first = useRef(files).current;
  // Stays true when the last file is removed, which Undo restores.
  const hasList = useRef(false);
  hasList.current ||= files.length + list.value.length > 0;
  return (
    <section class="file-panel">
      <header>
        <h2>{t('files')}</h2>
        <AddButton room={room} />
      </header>
      {addsOnce.value && (
        <p class="once-hint" role="status">
          <Icon name="once" />
          {t('nextFilesOnce')}
        </p>
      )}
      {hasList.current ? <FileList room={room} first={first} /> : <PendingFiles room={room} first={first} />}
    </section>
  );
}

function AddButton({ room }: { room: RoomModel }) {
  const menu = useSignal<HTMLElement | undefined>(undefined);
  const isMenuUsed = useRef(false);
  if (menu.value) isMenuUsed.current = true;
  return (
    <div class="file-picker">
      <MenuButton anchor={menu}>
        <Icon name="plus" />
        {t('addFiles')}
      </MenuButton>
      {isMenuUsed.current && <AddMenu anchor={menu} room={room} />}
    </div>
  );
}
