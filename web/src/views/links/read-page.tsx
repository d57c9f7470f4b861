/** The page of a read link: the text and the files, as they change. Nothing of them is stored on the device. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { LiveEvent } from '../../../../src/client/live-state.ts';
import { dropEnvelopePrefix } from '../../../../src/protocol/sealed.ts';
import { Button } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { OpenedLink, RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { followRoom } from '../../room/room-requests.ts';
import { onPlainClick } from '../../router.ts';
import { toPoproomError } from '../../server-connection.ts';
import { isViewable } from '../files/file-kind.ts';
import { DownloadButton, downloadFiles, FileName, FileThumbnail, factsOf } from '../files/file-links.tsx';
import { ReadView } from '../read/read-view.tsx';
import '../../style/file-list.css';
import '../../style/file-rows.css';

const SealedDownloads = lazy(() => import('../sealed-files/sealed-downloads.tsx'), 'SealedDownloads');
const Viewer = lazy(() => import('../viewer/viewer.tsx'), 'Viewer');

/** `onEnd` without an error: the link or its room has ended. */
export function ReadPage({ link, onEnd }: { link: OpenedLink; onEnd: (error?: PoproomError) => void }) {
  const { room, info } = link;
  const text = useSignal<string | undefined>(undefined);
  const content = useSignal<{ files: readonly SharedFile[] }>({ files: [] });
  const name = useSignal(info.name);
  const isOffline = useSignal(false);
  // Not with the id of the link, which would let others into the room by the name of an archive.
  const roomOfFiles = useMemo<RoomOfFiles>(() => ({ code: 'files', content, requests: async () => room }), []);

  useEffect(() => {
    const aborter = new AbortController();
    followRoom(room, aborter.signal, onEvent).then(
      (end) => end !== 'left' && onEnd(),
      (cause) => !aborter.signal.aborted && onEnd(toPoproomError(cause)),
    );
    return () => aborter.abort();
  }, []);

  function onEvent(event: LiveEvent): void {
    if (event.type === 'waiting' || event.type === 'connected') isOffline.value = event.type === 'waiting';
    if (event.type === 'content') text.value = event.content;
    if (event.type === 'room') name.value = event.name;
    onFileEvent(event, content);
    if (event.type !== 'snapshot') return;
    text.value = event.content.content;
    name.value = event.room.name;
  }

  return (
    <div class="role-page">
      <header>
        <h1>
          <bdi>{name.value ?? t('linkRoleRead')}</bdi>
        </h1>
        <p class="with-icon" role="status">
          {link.fileSizes && <Icon name="lock" />}
          {isOffline.value ? t('errorOffline') : t(link.fileSizes ? 'linkReadSealed' : 'linkReadOnly')}
        </p>
      </header>
      {text.value !== undefined && (
        <section class="card">
          <h2 class="visually-hidden">{t('text')}</h2>
          {text.value ? (
            <>
              <ReadView text={text.value} files={content.value.files} room={roomOfFiles} />
              <div class="actions">
                <CopyButton text={text.value} label={t('copyText')} />
              </div>
            </>
          ) : (
            <p class="aside">{t('linkNoText')}</p>
          )}
        </section>
      )}
      <Files room={roomOfFiles} files={content.value.files} isSealed={link.fileSizes !== undefined} />
    </div>
  );
}

function onFileEvent(event: LiveEvent, content: Signal<{ files: readonly SharedFile[] }>): void {
  const others = (id: string) => content.value.files.filter(({ fileId }) => fileId !== id);
  if (event.type === 'snapshot') content.value = { files: event.files };
  if (event.type === 'file-added') content.value = { files: [...others(event.file.fileId), event.file] };
  if (event.type === 'file-removed') content.value = { files: others(event.fileId) };
}

function Files({ room, files, isSealed }: { room: RoomOfFiles; files: readonly SharedFile[]; isSealed: boolean }) {
  const viewedId = useSignal<string | undefined>(undefined);
  const readable = files.filter((file) => !file.once && !isForMembers(file)).toReversed();
  if (files.length === 0) return null;
  return (
    <section class="card">
      <h2>{t('files')}</h2>
      {isSealed && (
        <ul class="files">
          <SealedDownloads />
        </ul>
      )}
      <ul class="files">
        {readable.map((file) => (
          <FileRow key={file.fileId} room={room} file={file} onView={() => (viewedId.value = file.fileId)} />
        ))}
      </ul>
      {readable.length < files.length && <p class="aside">{t('linkMembersOnly')}</p>}
      {readable.length > 1 && (
        <div class="actions">
          <Button icon="down" label={t('downloadAll')} onClick={() => void downloadFiles(room, readable)} />
        </div>
      )}
      {viewedId.value && (
        <Viewer room={room} files={readable} firstId={viewedId.value} onClose={() => (viewedId.value = undefined)} />
      )}
    </section>
  );
}

/** Receiving a one-time file erases it, and a dropped file is sealed for the members alone. */
const isForMembers = ({ meta = '' }: SharedFile): boolean => meta.startsWith(dropEnvelopePrefix);

function FileRow({ room, file, onView }: { room: RoomOfFiles; file: SharedFile; onView: () => void }) {
  const open = isViewable(file) ? onView : () => void downloadFiles(room, [file]);
  return (
    <li class="file">
      <FileThumbnail room={room} file={file} />
      <div class="file-info">
        <FileName room={room} file={file} onOpen={open} onClick={onPlainClick(open)} />
        <small>{factsOf(file)}</small>
      </div>
      <div class="file-actions">
        <DownloadButton room={room} file={file} />
      </div>
    </li>
  );
}
