/** Selects several files, to download or remove them together. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, IconButton } from '../../components/controls.tsx';
import { listen } from '../../components/listen.ts';
import { MoreIcon } from '../../components/more-icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/strings.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import { downloadFiles, FileThumbnail, isDownloadable } from './file-links.tsx';
import '../../style/forms.css';
import '../../style/file-rows.css';

interface FileToolsProps {
  room: RoomModel;
  files: readonly SharedFile[];
  /** The ids of the selected files; undefined while the user is not selecting. */
  selected: Signal<ReadonlySet<string> | undefined>;
  onRemove: (file: SharedFile, byKeyboard: boolean) => void;
}

function Selection({ room, files, selected, onRemove }: FileToolsProps) {
  const ids = selected.value ?? new Set<string>();
  const chosen = files.filter(({ fileId }) => ids.has(fileId));
  const isAll = chosen.length === files.length;
  const leave = () => (selected.value = undefined);
  const toggleAll = () => (selected.value = new Set(isAll ? [] : files.map(({ fileId }) => fileId)));
  const box = useRef<HTMLInputElement>(null);
  // The button that had the focus is gone.
  useLayoutEffect(() => box.current?.focus(), []);
  useEffect(() => listen('keydown', (event) => onEscape(event, leave)), []);

  function toggle({ fileId }: SharedFile): void {
    const next = new Set(ids);
    if (!next.delete(fileId)) next.add(fileId);
    selected.value = next;
  }

  return (
    <fieldset class="selection" aria-label={t('select')}>
      <div class="selection-bar">
        <label class="check">
          <input ref={box} type="checkbox" checked={isAll} indeterminate={!isAll && !!chosen[0]} onChange={toggleAll} />
          {t('selectAll')}
        </label>
        <output>{t('selected', { n: chosen.length })}</output>
        <IconButton icon="close" label={t('cancel')} onClick={leave} />
        <SelectionActions room={room} chosen={chosen} onRemove={onRemove} leave={leave} />
      </div>
      <ul class="files">
        {files.map((file) => (
          <li key={file.fileId}>
            <label class="file">
              <input
                type="checkbox"
                checked={chosen.includes(file)}
                aria-label={file.fileName}
                onChange={() => toggle(file)}
              />
              <FileThumbnail room={room} file={file} />
              <span class="file-info">
                <span dir="auto">{file.fileName}</span>
                <small>{file.once ? `${size(file.fileSize)} · ${t('oneTimeFile')}` : size(file.fileSize)}</small>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

/** Escape closes what is above the selection first. */
function onEscape({ key, defaultPrevented }: KeyboardEvent, leave: () => void): void {
  const isCovered = document.querySelector('dialog[open], :popover-open') !== null;
  if (key === 'Escape' && !defaultPrevented && !isCovered) leave();
}

type ActionProps = Pick<FileToolsProps, 'room' | 'onRemove'> & { chosen: readonly SharedFile[]; leave: () => void };

/** At opposite ends of the line, so that nobody taps Remove instead of Download. */
function SelectionActions({ room, chosen, onRemove, leave }: ActionProps) {
  const downloadable = chosen.filter(isDownloadable);
  const { isStarting, download } = useDownload(room, downloadable);
  const onDownload = async () => (await download()) && leave();
  const onClick = ({ detail }: MouseEvent) => {
    for (const file of chosen) onRemove(file, detail === 0);
    leave();
  };
  return (
    <div class="selection-actions">
      <Button icon="down" label={t('download')} disabled={!downloadable[0] || isStarting} onClick={onDownload} />
      <Button class="danger" icon="delete" aria-label={t('remove')} disabled={!chosen[0]} onClick={onClick}>
        <span>{t('remove')}</span>
      </Button>
      {downloadable.length < chosen.length && <p class="aside">{t('oneTimeExcluded')}</p>}
    </div>
  );
}

/** Once at a time. `download` returns whether it has started. */
function useDownload(room: RoomModel, files: readonly SharedFile[]) {
  const isStarting = useSignal(false);

  async function download(): Promise<boolean> {
    if (isStarting.value) return false;
    isStarting.value = true;
    const hasStarted = await downloadFiles(room, files);
    isStarting.value = false;
    return hasStarted;
  }

  return { isStarting: isStarting.value, download };
}

/** Actions on several files: buttons above the list, and a selection instead of the list. */
export function FileTools(props: FileToolsProps) {
  const { selected } = props;
  // When too few files are left, the list returns.
  useEffect(() => () => (selected.value = undefined), [selected]);
  const wasSelecting = useRef(false);
  const hasEnded = wasSelecting.current && !selected.value;
  wasSelecting.current = selected.value !== undefined;
  return selected.value ? <Selection {...props} /> : <FileButtons {...props} takesFocus={hasEnded} />;
}

function FileButtons({ room, files, selected, takesFocus }: FileToolsProps & { takesFocus: boolean }) {
  const buttons = useRef<HTMLDivElement>(null);
  const downloadable = files.filter(isDownloadable);
  const { isStarting, download } = useDownload(room, downloadable);

  useLayoutEffect(() => {
    if (takesFocus) buttons.current?.querySelector<HTMLElement>('.select')?.focus();
    const onPress = (target: Element) => {
      const id = target.closest('.button') ? undefined : target.closest<HTMLElement>('[data-id]')?.dataset.id;
      if (id !== undefined) selected.value = new Set([id]);
    };
    const end = new AbortController();
    const lists = buttons.current?.closest('.file-panel')?.querySelectorAll<HTMLElement>('.files') ?? [];
    for (const list of lists) listenForLongPress(list, onPress, end.signal);
    return () => end.abort();
  }, []);

  return (
    <div class="file-tools" ref={buttons}>
      {downloadable.length > 1 && (
        <Button class="quiet" label={t('downloadAll')} aria-disabled={isStarting} onClick={download}>
          <MoreIcon name="archive" />
        </Button>
      )}
      <Button class="quiet select" label={t('select')} onClick={() => (selected.value = new Set())}>
        <MoreIcon name="select" />
      </Button>
    </div>
  );
}

const longPressMs = 450;
/** A finger that moves farther than this scrolls. In pixels. */
const maxMove = 10;

/** Calls `onPress` with the element under the finger. */
function listenForLongPress(area: HTMLElement, onPress: (target: Element) => void, signal: AbortSignal): void {
  let timer: number | undefined;
  let [x, y] = [0, 0];
  const cancel = () => clearTimeout(timer);
  const on = <K extends keyof HTMLElementEventMap>(type: K, listen: (event: HTMLElementEventMap[K]) => void) =>
    area.addEventListener(type, listen, { signal });

  on('pointerdown', ({ pointerType, isPrimary, target, clientX, clientY }) => {
    cancel();
    if (pointerType !== 'touch' || !isPrimary) return;
    [x, y] = [clientX, clientY];
    timer = window.setTimeout(() => {
      ignoreNextClick();
      onPress(target as Element);
    }, longPressMs);
  });
  on('pointermove', ({ clientX, clientY }) => {
    if (Math.hypot(clientX - x, clientY - y) > maxMove) cancel();
  });
  on('pointerup', cancel);
  on('pointercancel', cancel);
  // The browser's own menu for links would cover the selection.
  on('contextmenu', (event) => {
    if ((event as PointerEvent).pointerType === 'touch') event.preventDefault();
  });
  signal.addEventListener('abort', cancel);
}

/** Lifting the finger may click what is under it by then. */
function ignoreNextClick(): void {
  const end = new AbortController();
  const options = { capture: true, signal: end.signal };
  const ignore = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
    end.abort();
  };
  document.addEventListener('click', ignore, options);
  document.addEventListener('pointerdown', () => end.abort(), options);
}
