/** The page of a drop link: one large target for files, and a note. Its holder sees only what they have sent. */
import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Button } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { useLeaveQuestion } from '../../components/leave-question.ts';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { OpenedLink, RoomContent } from '../../room/room-phase.ts';
import { createUploads } from '../../room/upload-queue.ts';
import type { IncomingFile, Upload, UploadState, Uploads } from '../../room/upload-state.ts';
import { Thumbnail } from '../files/thumbnail.tsx';
import { UploadRow } from '../files/upload-rows.tsx';
import { DropArea } from '../room/add-files.tsx';
import '../../style/file-list.css';
import '../../style/file-rows.css';

const LeaveDialog = lazy(() => import('../room/dialogs.tsx'), 'LeaveDialog');

/** `onEnd`: the link, or its room, has ended. */
export function DropPage({ link, onEnd }: { link: OpenedLink; onEnd: () => void }) {
  const { name } = link.info;
  const uploads = useMemo(() => openUploads(link), []);
  const add = (files: Iterable<IncomingFile>) => uploads.add(files);
  const leaving = useLeaveQuestion(uploads.areUnfinished.value);
  useEffect(() => listenToNetwork(uploads), []);
  useEffect(() => uploads.cancelAll, []);
  const list = uploads.list.value;
  const hasEnded = list.some(({ state }) => isRefusal(state.value));
  useEffect(() => {
    if (hasEnded) onEnd();
  }, [hasEnded]);

  return (
    <div class="role-page">
      <header>
        <h1 dir="auto">{name ? t('dropTitleNamed', { name }) : t('dropTitle')}</h1>
        <p class="with-icon">
          {link.fileSizes && <Icon name="lock" />}
          {t(link.fileSizes ? 'dropSealed' : 'dropHint')}
        </p>
      </header>
      {/* The list stays, so that the user sees which files were sent before. */}
      {hasEnded ? (
        <div class="card" role="alert">
          <h2>{t('linkGone')}</h2>
          <p>{t('linkGoneHint')}</p>
        </div>
      ) : (
        <Target onFiles={add} isSmall={list.length > 0} />
      )}
      <ul class="files" aria-label={t('files')}>
        {list.map((upload) => (
          <DroppedFile key={upload} upload={upload} hasEnded={hasEnded} />
        ))}
      </ul>
      <p class="visually-hidden" role="status">
        {list.length > 0 && !uploads.areUnfinished.value && t('dropSent')}
      </p>
      {!hasEnded && <NoteForm onNote={(file) => add([{ file }])} />}
      {leaving.value && <LeaveDialog onLeave={leaving.value} onClose={() => (leaving.value = undefined)} />}
    </div>
  );
}

/** Files can also be dropped or pasted anywhere on the page. */
function Target({ onFiles, isSmall }: { onFiles: (files: readonly IncomingFile[]) => void; isSmall: boolean }) {
  const onChange = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    onFiles(Array.from(currentTarget.files ?? [], (file) => ({ file })));
    // The same file can be chosen again.
    currentTarget.value = '';
  };
  return (
    <DropArea onFiles={onFiles}>
      <label class="drop-target" data-small={isSmall || undefined}>
        <Icon name="plus" />
        <span>{t('dropTarget')}</span>
        <input type="file" multiple class="visually-hidden" onChange={onChange} />
      </label>
    </DropArea>
  );
}

const isRefusal = (state: UploadState): boolean =>
  state.name === 'failed' && /^ROOM_(NOT_FOUND|EXPIRED)$/.test(state.error.code);

function DroppedFile({ upload, hasEnded }: { upload: Upload; hasEnded: boolean }) {
  const { name, file, state } = upload;
  const isSent = state.value.name === 'done';
  if (!isSent && !hasEnded) return <UploadRow upload={upload} />;
  return (
    <li class="file dropped" data-state={state.value.name}>
      <Thumbnail url="" name={name} type={file.type} />
      <div class="file-info">
        <span dir="auto">{name}</span>
        <small>
          {size(file.size)} · {t(isSent ? 'dropSent' : 'dropNotSent')}
        </small>
      </div>
      <Icon name={isSent ? 'check' : 'warning'} />
    </li>
  );
}

/** A note becomes a text file. */
function NoteForm({ onNote }: { onNote: (note: File) => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  function onSubmit(event: Event) {
    event.preventDefault();
    const text = field.current?.value ?? '';
    if (!field.current || text.trim() === '') return field.current?.focus();
    onNote(noteOf(text));
    field.current.value = '';
  }
  return (
    <form class="card" onSubmit={onSubmit}>
      <label class="field">
        <span>{t('dropNote')}</span>
        <textarea ref={field} rows={3} dir="auto" />
      </label>
      <div class="actions">
        <Button type="submit" label={t('dropSendNote')} />
      </div>
    </form>
  );
}

function noteOf(text: string): File {
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  return new File([text], `note-${date}-${time.replaceAll(':', '')}.txt`, { type: 'text/plain' });
}

/** The files of the room are not known here, so those that were sent stay in the list. */
function openUploads({ room, info: { limits }, fileSizes }: OpenedLink): Uploads {
  return createUploads(
    {
      code: room.code,
      requests: async () => room,
      content: () => ({ limits, files: [], fileSizes }) as unknown as RoomContent,
      // A dropper has no key that could hide the names of files in the storage of the browser.
      hide: (text) => (fileSizes ? undefined : text),
      discard: (uploadId) => void room.cancelUpload(uploadId).catch(() => undefined),
    },
    { addsOnce: signal(false), isConnected: () => navigator.onLine, listedUrls: new Set() },
  );
}

function listenToNetwork({ onConnected, onDisconnected }: Uploads): () => void {
  const aborter = new AbortController();
  addEventListener('online', onConnected, aborter);
  addEventListener('offline', onDisconnected, aborter);
  return () => aborter.abort();
}
