/** Actions on several files: buttons above the list, and a selection instead of the list. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { MoreIcon } from '../../components/more-icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { downloadFiles, isDownloadable } from './download-files.ts';
import { listenForLongPress } from './long-press.ts';
import { type FileToolsProps, Selection } from './selection.tsx';
import '../../style/file-tools.css';

export function FileTools(props: FileToolsProps) {
  const { selected } = props;
  // When too few files are left, the list returns.
  useEffect(
    () => () => {
      selected.value = undefined;
    },
    [selected],
  );
  const wasSelecting = useRef(false);
  const hasEnded = wasSelecting.current && !selected.value;
  wasSelecting.current = selected.value !== undefined;
  return selected.value ? <Selection {...props} /> : <FileButtons {...props} takesFocus={hasEnded} />;
}

function FileButtons({ room, files, selected, takesFocus }: FileToolsProps & { takesFocus: boolean }) {
  const buttons = useRef<HTMLDivElement>(null);
  const isStarting = useSignal(false);
  const downloadable = files.filter(isDownloadable);

  useLayoutEffect(() => {
    if (takesFocus) buttons.current?.querySelector<HTMLElement>('.select')?.focus();
    const list = buttons.current?.closest('.file-panel')?.querySelector<HTMLElement>('.files');
    if (!list) return;
    return listenForLongPress(list, (target) => {
      const id = target.closest('.button') ? undefined : target.closest<HTMLElement>('[data-id]')?.dataset.id;
      if (id !== undefined) selected.value = new Set([id]);
    });
  }, []);

  async function downloadAll(): Promise<void> {
    if (isStarting.value) return;
    isStarting.value = true;
    await downloadFiles(room, downloadable);
    isStarting.value = false;
  }

  return (
    <div class="file-tools" ref={buttons}>
      {downloadable.length > 1 && (
        <button type="button" class="button quiet" aria-disabled={isStarting.value} onClick={() => void downloadAll()}>
          <MoreIcon name="archive" />
          {t('downloadAll')}
        </button>
      )}
      <button
        type="button"
        class="button quiet select"
        onClick={() => {
          selected.value = new Set();
        }}
      >
        <MoreIcon name="select" />
        {t('select')}
      </button>
    </div>
  );
}
