/** Selects several files, to download or remove them together. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import { downloadFiles, FileThumbnail, isDownloadable } from './file-links.tsx';
import '../../style/forms.css';
import { MoreIcon } from '../../components/more-icon.tsx';
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
  const leave = () => {
    selected.value = undefined;
  };
  useEscape(leave);

  function toggle({ fileId }: SharedFile): void {
    const next = new Set(ids);
    if (!next.delete(fileId)) next.add(fileId);
    selected.value = next;
  }

  return (
    <fieldset class="selection" aria-label={t('select')}>
      <div class="selection-bar">
        <SelectAll
          state={chosen.length === 0 ? 'none' : chosen.length < files.length ? 'some' : 'all'}
          onToggle={(all) => {
            selected.value = new Set(all ? files.map(({ fileId }) => fileId) : []);
          }}
        />
        <output>{t('selected', { n: chosen.length })}</output>
        <button type="button" class="button round" aria-label={t('cancel')} title={t('cancel')} onClick={leave}>
          <Icon name="close" />
        </button>
        <SelectionActions
          chosen={chosen}
          onDownload={async (downloadable) => {
            if (await downloadFiles(room, downloadable)) leave();
          }}
          onRemove={(byKeyboard) => {
            for (const file of chosen) onRemove(file, byKeyboard);
            leave();
          }}
        />
      </div>
      <ul class="files">
        {files.map((file) => (
          <SelectableFile
            key={file.fileId}
            room={room}
            file={file}
            isSelected={ids.has(file.fileId)}
            onToggle={() => toggle(file)}
          />
        ))}
      </ul>
    </fieldset>
  );
}

/** Escape closes what is above the selection first. */
function useEscape(leave: () => void): void {
  useEffect(() => {
    const onKeyDown = ({ key, defaultPrevented }: KeyboardEvent) => {
      const isCovered = document.querySelector('dialog[open], :popover-open') !== null;
      if (key === 'Escape' && !defaultPrevented && !isCovered) leave();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

interface SelectAllProps {
  state: 'none' | 'some' | 'all';
  onToggle: (all: boolean) => void;
}

function SelectAll({ state, onToggle }: SelectAllProps) {
  const box = useRef<HTMLInputElement>(null);
  // The button that had the focus is gone.
  useLayoutEffect(() => box.current?.focus(), []);
  return (
    <label class="check">
      <input
        ref={box}
        type="checkbox"
        checked={state === 'all'}
        indeterminate={state === 'some'}
        onChange={({ currentTarget }) => onToggle(currentTarget.checked)}
      />
      {t('selectAll')}
    </label>
  );
}

interface ActionProps {
  chosen: readonly SharedFile[];
  onDownload: (files: readonly SharedFile[]) => Promise<void>;
  onRemove: (byKeyboard: boolean) => void;
}

/** At opposite ends of the line, so that nobody taps Remove instead of Download. */
function SelectionActions({ chosen, onDownload, onRemove }: ActionProps) {
  const isStarting = useSignal(false);
  const downloadable = chosen.filter(isDownloadable);
  return (
    <div class="selection-actions">
      <button
        type="button"
        class="button"
        disabled={downloadable.length === 0 || isStarting.value}
        onClick={async () => {
          isStarting.value = true;
          await onDownload(downloadable);
          isStarting.value = false;
        }}
      >
        <Icon name="down" />
        {t('download')}
      </button>
      <button
        type="button"
        class="button danger"
        aria-label={t('remove')}
        disabled={chosen.length === 0}
        onClick={({ detail }) => onRemove(detail === 0)}
      >
        <Icon name="delete" />
        <span>{t('remove')}</span>
      </button>
      {downloadable.length < chosen.length && <p class="aside">{t('oneTimeExcluded')}</p>}
    </div>
  );
}

interface SelectableProps {
  room: RoomModel;
  file: SharedFile;
  isSelected: boolean;
  onToggle: () => void;
}

function SelectableFile({ room, file, isSelected, onToggle }: SelectableProps) {
  const { fileName, fileSize, once } = file;
  return (
    <li>
      <label class="file">
        <input type="checkbox" checked={isSelected} aria-label={fileName} onChange={onToggle} />
        <FileThumbnail room={room} file={file} />
        <span class="file-info">
          <span dir="auto">{fileName}</span>
          <small>{once ? `${size(fileSize)} · ${t('oneTimeFile')}` : size(fileSize)}</small>
        </span>
      </label>
    </li>
  );
}

/** Actions on several files: buttons above the list, and a selection instead of the list. */
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
    const onPress = (target: Element) => {
      const id = target.closest('.button') ? undefined : target.closest<HTMLElement>('[data-id]')?.dataset.id;
      if (id !== undefined) selected.value = new Set([id]);
    };
    const lists = buttons.current?.closest('.file-panel')?.querySelectorAll<HTMLElement>('.files') ?? [];
    const ends = Array.from(lists, (list) => listenForLongPress(list, onPress));
    return () => {
      for (const end of ends) end();
    };
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

const longPressMs = 450;
/** A finger that moves farther than this scrolls. In pixels. */
const maxMove = 10;

/** Calls `onPress` with the element under the finger. Returns a function that stops listening. */
function listenForLongPress(area: HTMLElement, onPress: (target: Element) => void): () => void {
  const end = new AbortController();
  let timer: number | undefined;
  let [x, y] = [0, 0];
  const cancel = () => clearTimeout(timer);
  const on = <K extends keyof HTMLElementEventMap>(type: K, listen: (event: HTMLElementEventMap[K]) => void) =>
    area.addEventListener(type, listen, { signal: end.signal });

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
  end.signal.addEventListener('abort', cancel);
  return () => end.abort();
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
