/** Accepts files and folders dropped or pasted anywhere on the page. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/strings.ts';
import type { IncomingFile } from '../../room/uploads.ts';
import { droppedFiles, pastedFiles } from './incoming-files.ts';

interface Props {
  onFiles: (files: IncomingFile[]) => void;
  children: ComponentChildren;
}

export function DropArea({ onFiles, children }: Props) {
  const isDragging = useSignal(false);

  // Listen before the first paint: without a listener, the browser would open a dropped file.
  useLayoutEffect(() => {
    const end = new AbortController();
    const on = <K extends keyof DocumentEventMap>(type: K, listen: (event: DocumentEventMap[K]) => void) =>
      document.addEventListener(type, listen, { signal: end.signal });
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

    on('dragover', (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      isDragging.value = true;
    });
    on('dragleave', (event) => {
      // Only when the drag leaves the page: the event also fires between elements.
      if (event.relatedTarget === null) isDragging.value = false;
    });
    on('drop', (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      isDragging.value = false;
      droppedFiles(event.dataTransfer).then(onFiles, () => notify(t('dropFailed')));
    });
    on('paste', (event) => {
      const files = pastedFiles(event.clipboardData);
      if (files.length === 0) return;
      event.preventDefault();
      onFiles(files);
    });
    return () => end.abort();
  }, [onFiles]);

  return (
    <>
      {children}
      {isDragging.value && (
        <div class="drop-hint">
          <p>
            <Icon name="down" />
            {t('dropHere')}
          </p>
        </div>
      )}
    </>
  );
}
