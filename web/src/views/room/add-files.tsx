/** Adds files to the uploads: from the picker, a paste, or a drop anywhere on the page. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { Icon } from '../../components/controls.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import type { IncomingFile } from '../../room/upload-state.ts';

export const loadUploadParts = () => import('../files/upload-rows.tsx');

/** If the code cannot be loaded, the files wait for the connection. */
export async function addFiles(room: RoomModel, files: readonly IncomingFile[]): Promise<void> {
  const parts = await loadUploadParts().catch(() => undefined);
  room.uploads.add(parts?.takeFitting(room, files) ?? files);
}

/** Office programs copy an image along with text and HTML. In this case the user wants the text. */
function pastedFiles(clipboard: DataTransfer | null): IncomingFile[] {
  if (!clipboard || ['text/plain', 'text/html'].every((type) => clipboard.types.includes(type))) return [];
  return Array.from(clipboard.files, (file) => ({ file, isPasted: true }));
}

/** With the files in dropped folders. Reads the drop before it returns, because the browser clears it after the event. */
async function droppedFiles(transfer: DataTransfer | null): Promise<IncomingFile[]> {
  const items = Array.from(transfer?.items ?? []).filter(({ kind }) => kind === 'file');
  const found = items.map((item) => {
    const entry = item.webkitGetAsEntry?.();
    if (entry?.isDirectory) return loadUploadParts().then((parts) => parts.filesIn(entry as FileSystemDirectoryEntry));
    const file = item.getAsFile();
    return file ? [{ file }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Accepts files and folders dropped or pasted anywhere on the page. A hint covers it while they are dragged. */
export function DropArea({ onFiles }: { onFiles: (files: IncomingFile[]) => void }) {
  const isDragging = useSignal(false);

  // Listen before the first paint: without a listener, the browser would open a dropped file.
  useLayoutEffect(() => {
    const end = new AbortController();
    const on = <K extends keyof DocumentEventMap>(type: K, listen: (event: DocumentEventMap[K]) => void) =>
      document.addEventListener(type, listen, { signal: end.signal });
    const onDrag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      isDragging.value = event.type === 'dragover';
      if (event.type === 'drop') droppedFiles(event.dataTransfer).then(onFiles, () => notify(t('dropFailed')));
    };

    on('dragover', onDrag);
    on('drop', onDrag);
    on('dragleave', (event) => {
      // Only when the drag leaves the page: the event also fires between elements.
      if (event.relatedTarget === null) isDragging.value = false;
    });
    on('paste', (event) => {
      const files = pastedFiles(event.clipboardData);
      if (files.length === 0) return;
      event.preventDefault();
      onFiles(files);
    });
    return () => end.abort();
  }, [onFiles]);

  if (!isDragging.value) return null;
  return (
    <div class="drop-hint">
      <p>
        <Icon name="down" />
        {t('dropHere')}
      </p>
    </div>
  );
}
