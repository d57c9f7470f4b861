/** The files of the room and the current uploads, below the head of the file panel. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { Button, Icon, IconButton } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { lazy } from '../../components/lazy.tsx';
import { countIfHidden, notify } from '../../components/notices.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { alertArrival } from '../../device/arrival-alerts.ts';
import { nameOf } from '../../device/identity.ts';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/strings.ts';
import type { RoomModel, SharedFile } from '../../room/room-phase.ts';
import { largestFile, leftOver, spaceLeft } from '../../room/space-left.ts';
import type { Uploads } from '../../room/upload-state.ts';
import { linkToFile, onPlainClick, useLeaveQuestion } from '../../router.ts';
import { hrefOf } from '../../server-connection.ts';
import { loadUploadParts } from '../room/add-files.tsx';
import { type FileListProps, NoFiles } from '../room/file-placeholder.tsx';
import { isViewable, previewOf } from './file-kind.ts';
import { DownloadButton, FileName, FileThumbnail, factsOf, newestFirst } from './file-links.tsx';
import { ReceiveDialog } from './save-file.tsx';
import { FileTools } from './selection.tsx';
import '../../style/file-rows.css';

const FailedUploads = lazy(loadUploadParts, 'FailedUploads');
const LeftOverFiles = lazy(loadUploadParts, 'LeftOverFiles');
const UploadRow = lazy(loadUploadParts, 'UploadRow');
const loadDialog = () => import('../room/dialogs.tsx');
const LeaveDialog = lazy(loadDialog, 'LeaveDialog');
const SealedDownloads = lazy(() => import('../sealed-files/sealed-files.tsx'), 'SealedDownloads');
const loadViewer = () => import('../viewer/viewer.tsx');
const CopyFileImage = lazy(loadViewer, 'CopyFileImage');
const Viewer = lazy(loadViewer, 'Viewer');

export function FileList({ room, first }: FileListProps) {
  const { hidden, remove } = useMemo(() => createRemoval(room), [room]);
  const { recent, adderOf } = useArrivals(room, first);
  const shown = newestFirst(room.content.value.files).filter(({ fileId }) => !hidden.value.has(fileId));
  const { photos = [], others = [] } = Object.groupBy(shown, (file) => (isPhoto(file) ? 'photos' : 'others'));
  const files = [...photos, ...others];
  const uploads = room.uploads.list.value;
  const viewedId = useSignal<string | undefined>(undefined);
  const failed = uploads.filter(({ state }) => state.value.name === 'failed');
  const receiving = useSignal<SharedFile | undefined>(undefined);
  const { received } = room.content.value;
  useEffect(() => {
    // On the device that received it, the dialog says so.
    if (received && received.fileId !== receiving.value?.fileId) notify(t('fileReceived', { name: received.fileName }));
  }, [received]);
  const selected = useSignal<ReadonlySet<string> | undefined>(undefined);
  const open = (file: SharedFile) => {
    if (file.once) receiving.value = file;
    else viewedId.value = file.fileId;
  };
  const rowOf = (file: SharedFile) => (
    <FileRow
      key={file.fileId}
      room={room}
      file={file}
      addedBy={file.deviceId === room.deviceId ? t('you') : adderOf(file)}
      isNew={recent.has(file.fileId)}
      onOpen={() => open(file)}
      onRemove={(byKeyboard) => void remove(file, byKeyboard)}
    />
  );
  return (
    <>
      <div class="file-summary">
        <SpaceLeft room={room} />
        {files.length > 1 && <FileTools room={room} files={files} selected={selected} onRemove={remove} />}
      </div>
      {leftOver.value && <LeftOverFiles room={room} />}
      {failed.length > 1 && <FailedUploads failed={failed} />}
      {files.length + uploads.length === 0 && <NoFiles />}
      <ul class="files">
        {room.content.value.isEncrypted && <SealedDownloads />}
        {uploads.map((upload) => (
          <UploadRow key={upload} upload={upload} />
        ))}
      </ul>
      <ul class="files photos" aria-label={t('pictures')}>
        {!selected.value && photos.map(rowOf)}
      </ul>
      <ul class="files">{!selected.value && others.map(rowOf)}</ul>
      {viewedId.value && (
        <Viewer room={room} files={files} firstId={viewedId.value} onClose={() => (viewedId.value = undefined)} />
      )}
      {receiving.value && (
        <ReceiveDialog room={room} file={receiving.value} onClose={() => (receiving.value = undefined)} />
      )}
      <LeaveGuard uploads={room.uploads} />
    </>
  );
}

/** The share of a limit from which on the page states what is left. */
const statedFrom = 0.8;

/** Stated when most of the room is used, or after a failed upload. */
function SpaceLeft({ room }: { room: RoomModel }) {
  const { limits } = room.content.value;
  const uploads = room.uploads.list.value;
  const left = spaceLeft(room.content.value, uploads);
  const used = 1 - Math.min(left.files / limits.filesPerRoom, left.bytes / limits.fileBytesPerRoom);
  if (used <= statedFrom && !uploads.some(({ state }) => state.value.name === 'failed')) return null;
  return (
    <p class="aside space-left">
      {left.files < 1
        ? t('errorTooManyFiles', { n: limits.filesPerRoom })
        : t('spaceLeft', { size: size(largestFile(room.content.value)), left: size(left.bytes) })}
    </p>
  );
}

const highlightMs = 4_000;

/** `recent`: the ids of the files to highlight. `adderOf` returns the name of the device that added a file. */
function useArrivals(room: RoomModel, first: FileListProps['first']) {
  const { files, devices } = room.content.value;
  // Also of devices that have left the room since.
  const names = useRef(new Map<string, string>()).current;
  for (const device of devices) names.set(device.deviceId, nameOf(device));
  const adderOf = (file: SharedFile) => names.get(file.deviceId ?? '') ?? t('someone');

  const known = useRef(new Set(first.map(({ fileId }) => fileId))).current;
  const recent = useSignal<ReadonlySet<string>>(new Set());
  const message = useRef({ name: '', n: 0, text: '', dismiss: (): boolean => false });

  /** Files that one device adds in a row share one message. */
  function announce(file: SharedFile): void {
    const last = message.current;
    const name = adderOf(file);
    const n = last.name === name && last.dismiss() ? last.n + 1 : 1;
    const text = n === 1 ? t('fileAdded', { name, file: file.fileName }) : t('filesAdded', { name, n });
    message.current = { name, n, text, dismiss: notify(text) };
  }

  function onArrived(file: SharedFile): void {
    announce(file);
    recent.value = new Set([...recent.value, file.fileId]);
    setTimeout(() => (recent.value = new Set([...recent.value].filter((id) => id !== file.fileId))), highlightMs);
  }

  useEffect(() => {
    // A file that returns after Undo is known.
    const arrived = files.filter((file) => !known.has(file.fileId) && file.deviceId !== room.deviceId);
    for (const { fileId } of files) known.add(fileId);
    arrived.forEach(onArrived);
    countIfHidden(arrived.length);
    if (arrived.length > 0) alertArrival(message.current.text);
  }, [files]);

  return { recent: recent.value, adderOf };
}

/** The server erases a removed file after 60 seconds; the request to restore it needs some of them. */
const restorableMs = 56_000;

function createRemoval(room: RoomModel) {
  /** The ids of files that the page no longer shows, while the server still lists them. */
  const hidden = signal<ReadonlySet<string>>(new Set());
  let removed: readonly SharedFile[] = [];
  let dismiss = () => false;
  room.content.subscribe(({ files }) => {
    const listed = [...hidden.peek()].filter((id) => files.some(({ fileId }) => fileId === id));
    if (listed.length < hidden.peek().size) hidden.value = new Set(listed);
  });

  function show(takesFocus: boolean): void {
    const [file, second] = removed;
    if (!file) return;
    const text = second ? t('filesRemoved', { n: removed.length }) : t('fileRemoved', { name: file.fileName });
    dismiss = notify(text, { undo, ms: restorableMs, takesFocus });
  }

  function undo(): void {
    for (const file of removed) {
      unhide(file);
      void room.restoreFile(file);
    }
    removed = [];
  }

  function unhide({ fileId }: SharedFile): void {
    hidden.value = new Set([...hidden.value].filter((id) => id !== fileId));
  }

  function onErased(file: SharedFile): void {
    if (!removed.includes(file)) return;
    removed = removed.filter((other) => other !== file);
    if (dismiss()) show(false);
  }

  async function remove(file: SharedFile, byKeyboard: boolean): Promise<void> {
    hidden.value = new Set([...hidden.value, file.fileId]);
    if (!(await room.removeFile(file))) return unhide(file);
    // If the user has closed the message, it does not return.
    removed = dismiss() ? [...removed, file] : [file];
    show(byKeyboard);
    setTimeout(() => onErased(file), restorableMs);
  }

  return { hidden, remove };
}

/** Asks before the user leaves the room while files are being uploaded. */
function LeaveGuard({ uploads }: { uploads: Uploads }) {
  const isNeeded = uploads.areUnfinished.value;
  const proceed = useLeaveQuestion(isNeeded);
  useEffect(() => {
    // The connection may be lost by the time that the dialog is needed.
    if (isNeeded) loadDialog().catch(() => undefined);
  }, [isNeeded]);

  return proceed.value && <LeaveDialog onLeave={proceed.value} onClose={() => (proceed.value = undefined)} />;
}

interface RowProps {
  room: RoomModel;
  file: SharedFile;
  addedBy: string;
  isNew: boolean;
  /** Opens the viewer, or receives a one-time file. */
  onOpen: () => void;
  onRemove: (byKeyboard: boolean) => void;
}

/** A file that is deleted after its first download can be received or removed, but not opened or linked. */
function FileRow({ room, file, addedBy, isNew, onOpen, onRemove }: RowProps) {
  const { fileId, fileName: name, once } = file;
  const kind = once ? 'one-time' : isPhoto(file) && 'photo';
  const onClick = isViewable(file) ? onPlainClick(onOpen) : undefined;
  const onDragStart = (event: DragEvent) => offerDownload(event, file);
  return (
    <li class={`file ${kind || ''}`} data-id={fileId} data-new={isNew || undefined} onDragStart={onDragStart}>
      <FileThumbnail room={room} file={file} />
      <div class="file-info">
        {once ? (
          <span dir="auto" title={name}>
            {name}
          </span>
        ) : (
          <FileName {...{ room, file, onOpen, onClick }} target="_blank" rel="noopener noreferrer" />
        )}
        <small>
          <span>{factsOf(file)}</span>
          <span>
            <bdi>{addedBy}</bdi> · <TimeAgo at={file.uploadedAt} />
          </span>
        </small>
        {once && (
          <small class="once-mark">
            <Icon name="once" />
            {t('oneTimeFile')}
          </small>
        )}
      </div>
      <div class="file-actions">
        {once ? (
          <Button class="receive" icon="down" aria-label={t('receiveFile', { name })} onClick={onOpen}>
            <span>{t('receive')}</span>
          </Button>
        ) : (
          <DownloadButton room={room} file={file} />
        )}
        <FileMenu room={room} file={file} onRemove={onRemove} />
      </div>
    </li>
  );
}

/** Shown in the grid of pictures. */
const isPhoto = (file: SharedFile): boolean => previewOf(file) === 'image';

/** Lets the link of a file be dropped on the desktop. A browser could not decrypt a file there. */
function offerDownload({ dataTransfer }: DragEvent, file: SharedFile): void {
  if (file.meta !== undefined || file.once) return;
  const url = new URL(`${hrefOf(file)}?download`, location.href);
  // The parts are separated by colons.
  dataTransfer?.setData('DownloadURL', `${file.contentType}:${file.fileName.replaceAll(':', '_')}:${url.href}`);
}

/** Buttons in the row, or on a touch screen a menu, where nobody taps Remove instead of Download. */
function FileMenu({ room, file, onRemove }: Pick<RowProps, 'room' | 'file' | 'onRemove'>) {
  const { fileName: name, once, meta } = file;
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const remove = ({ detail }: MouseEvent) => onRemove(detail === 0);
  return (
    <>
      <Button class="round more" icon="more" popovertarget={id} aria-label={t('moreActions', { name })} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: closes the menu after a click on one of its buttons, by key or not. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <div class="file-menu" id={id} popover="auto" ref={menu} onClick={() => menu.current?.hidePopover?.()}>
        {previewOf(file) === 'image' && <CopyFileImage room={room} file={file} />}
        {!once && meta === undefined && (
          <CopyButton text={linkToFile(file)} label={t('copyFileLink', { name })} icon="link" compact />
        )}
        {isSharable(file) && <ShareButton room={room} file={file} />}
        <IconButton class="remove" icon="delete" label={t('removeFile', { name })} onClick={remove} />
      </div>
    </>
  );
}

/** A larger file would take much memory. */
const maxSharedBytes = 64 * 1024 * 1024;

const isSharable = ({ fileSize, once }: SharedFile): boolean =>
  !once && fileSize <= maxSharedBytes && (navigator.canShare?.({ files: [new File([], 'file.txt')] }) ?? false);

function ShareButton({ room, file }: Pick<RowProps, 'room' | 'file'>) {
  const { fileName: name, contentType: type } = file;
  // A browser that waited too long for the file requires another click, and then the file is there.
  const loaded = useRef<File>(undefined);

  async function onClick() {
    try {
      const load = async () => (await (await room.requests()).download(file)).blob();
      loaded.current ??= new File([await load()], name, { type });
      await navigator.share({ files: [loaded.current] });
    } catch (error) {
      const isCancelled = error instanceof DOMException && error.name === 'AbortError';
      if (!isCancelled) notify(t('shareFailed'));
    }
  }

  return <IconButton icon="share" label={t('shareFile', { name })} onClick={onClick} />;
}
