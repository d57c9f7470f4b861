/** Selects several files, to download or remove them together. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { downloadFiles, isDownloadable } from './download-files.ts';
import { FileThumbnail } from './file-links.tsx';
import '../../style/forms.css';

export interface FileToolsProps {
  room: RoomModel;
  files: readonly SharedFile[];
  /** The ids of the selected files; undefined while the user is not selecting. */
  selected: Signal<ReadonlySet<string> | undefined>;
  onRemove: (file: SharedFile, byKeyboard: boolean) => void;
}

export function Selection({ room, files, selected, onRemove }: FileToolsProps) {
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
