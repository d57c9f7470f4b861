/** Pastes text or an image. If the page cannot read the clipboard, such as over plain HTTP, a field takes the paste. */
import { useSignal } from '@preact/signals';
import { readClipboard } from '../../components/clipboard.ts';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room.ts';
import { addFiles } from './add-files.ts';

const PasteDialog = lazy(() => import('./dialogs.ts'), 'PasteDialog');

interface Props {
  room: RoomModel;
  onText: (text: string) => void;
}

export function PasteButton({ room, onText }: Props) {
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
