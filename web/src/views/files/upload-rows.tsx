/** The uploads in the file list, and the checks before files are added. Loaded with the first upload. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from '../../components/controls.tsx';
import { useNow } from '../../components/countdown.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, percent, roughTime, size } from '../../i18n/strings.ts';
import type { StringKey } from '../../i18n/translation.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { leftOver, spaceLeft } from '../../room/space-left.ts';
import type { IncomingFile, SendingUpload, Upload, UploadEvent, UploadState } from '../../room/upload-state.ts';
import { isUnfinished, speedOf } from '../../room/upload-state.ts';
import { shareOf } from './save-file.tsx';
import { Thumbnail } from './thumbnail.tsx';
import '../../style/uploads.css';

export function UploadRow({ upload }: { upload: Upload }) {
  const { name, file, send } = upload;
  const state = upload.state.value;
  const retry = () => send({ type: 'retry' });
  const cancel = () => send({ type: 'cancel' });
  return (
    <li class="file upload" data-state={state.name}>
      <Thumbnail url={useObjectUrl(file)} name={name} type={file.type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small role={state.name === 'failed' ? 'alert' : undefined}>
          <Detail file={file} state={state} />
        </small>
        {isUnfinished(state) && <Progress upload={upload} />}
      </div>
      <div class="file-actions">
        {state.name === 'failed' && state.canRetry && (
          <IconButton icon="retry" label={t('retryUpload', { name })} title={t('tryAgain')} onClick={retry} />
        )}
        <IconButton icon="close" label={t('cancelUpload', { name })} title={t('cancel')} onClick={cancel} />
      </div>
    </li>
  );
}

/** When the file is sent. */
const Limited = ({ until }: { until: number }) => <>{t('limitFiles', { time: roughTime(until - useNow()) })}</>;

/** Keeps its length while the connection is lost. */
function Progress({ upload: { name, file, state } }: { upload: Upload }) {
  const last = useRef(0);
  if (state.value.name === 'sending') last.current = shareOf(file.size, state.value.sent);
  return <progress max={1} value={last.current} aria-label={name} />;
}

/** "41% of 2.9 MB · 150 kB/s · 12 seconds left". */
function Rate({ file, state }: { file: File; state: SendingUpload }) {
  // The speed decreases also without an event, when nothing is sent any more.
  useNow();
  const speed = speedOf(state, performance.now());
  const progress = t('uploadProgress', { percent: percent(shareOf(file.size, state.sent)), size: size(file.size) });
  if (!speed) return progress;
  const time = roughTime(((file.size - state.sent) / speed) * 1000);
  const parts = [progress, t('perSecond', { size: size(speed) }), t('uploadTimeLeft', { time })];
  // On a phone, lines break between the parts.
  return parts.map((part) => part.replaceAll(' ', '\u00a0')).join(' · ');
}

const stateKeys: Partial<Record<UploadState['name'], StringKey>> = {
  waiting: 'uploadWaiting',
  offline: 'uploadOffline',
  resuming: 'uploadResuming',
};

function Detail({ file, state }: { file: File; state: UploadState }) {
  if (state.name === 'sending') return <Rate file={file} state={state} />;
  if (state.name === 'limited') return <Limited until={state.until} />;
  if (state.name === 'failed') return errorMessage(state.error);
  const key = stateKeys[state.name];
  return key ? `${size(file.size)} · ${t(key)}` : size(file.size);
}

function useObjectUrl(file: File): string {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const objectUrl = URL.createObjectURL(file);
    setUrl(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [file]);
  return url;
}

export function FailedUploads({ failed }: { failed: readonly Upload[] }) {
  const canRetry = failed.some(({ state: { value } }) => value.name === 'failed' && value.canRetry);
  const sendAll = (event: UploadEvent) => {
    for (const upload of failed) upload.send(event);
  };
  return (
    <div class="failed-uploads">
      <p class="problem">{t('uploadsFailed', { n: failed.length })}</p>
      {canRetry && <Button label={t('retryAll')} onClick={() => sendAll({ type: 'retry' })} />}
      <Button label={t('dismissAll')} onClick={() => sendAll({ type: 'cancel' })} />
    </div>
  );
}

/** More rows of refused files than this would hide the others. */
const maxRefused = 20;

/** The files to add. If there are far more than the room has space for, the others are left over. */
export function takeFitting(room: RoomModel, files: readonly IncomingFile[]): readonly IncomingFile[] {
  const { list, addsOnce } = room.uploads;
  const fit = Math.max(0, spaceLeft(room.content.value, list.value).files);
  if (files.length <= fit + maxRefused) return files;
  leftOver.value = { room, files: files.slice(fit), fit, once: addsOnce.value };
  addsOnce.value = fit > 0 && addsOnce.value;
  return files.slice(0, fit);
}

/** One row for all of them, which stays until the user adds or dismisses them. */
export function LeftOverFiles({ room }: { room: RoomModel }) {
  if (leftOver.value?.room !== room) return null;
  const { files, fit, once } = leftOver.value;
  const all = fit + files.length;
  const dismiss = () => (leftOver.value = undefined);
  const retry = () => {
    dismiss();
    room.uploads.addsOnce.value = once;
    room.uploads.add(takeFitting(room, files));
  };
  return (
    <div class="failed-uploads" role="alert">
      <p class="problem">
        {t('filesAddedOf', { fit, n: all < maxRead ? all : `${all}+` })} {t('errorRoomFull')}
      </p>
      <Button label={t('tryAgain')} onClick={retry} />
      <Button label={t('dismissAll')} onClick={dismiss} />
    </div>
  );
}

/** More than any room may have. Reading a whole disk would take minutes. */
const maxRead = 2_000;

export async function filesIn(folder: FileSystemDirectoryEntry, found: IncomingFile[] = []): Promise<IncomingFile[]> {
  for (const entry of await entriesOf(folder)) {
    if (found.length >= maxRead) break;
    if (entry.isDirectory) await filesIn(entry as FileSystemDirectoryEntry, found);
    else found.push({ file: await fileOf(entry as FileSystemFileEntry), folder: folderIn(entry.fullPath) });
  }
  return found;
}

/** Browsers return the entries of a folder in batches. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const readBatch = () => new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  const entries: FileSystemEntry[] = [];
  for (let batch = await readBatch(); batch.length > 0; batch = await readBatch()) entries.push(...batch);
  return entries.sort((one, other) => one.name.localeCompare(other.name));
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** "photos/2026" of "/photos/2026/a.jpg". */
const folderIn = (path: string): string => path.replace(/^\//, '').replace(/\/?[^/]*$/, '');
