/** The page of a drop link: one large target for files, and a note. Its holder sees only what they have sent. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RoomBase } from '../../../../src/client/room.ts';
import type { RoomDetails } from '../../../../src/protocol/types.ts';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomContent } from '../../room/room-phase.ts';
import { createUploads } from '../../room/upload-queue.ts';
import type { Upload, Uploads } from '../../room/upload-state.ts';
import { blockLeaving } from '../../router.ts';
import { UploadRow } from '../files/upload-rows.tsx';

interface Props {
  room: RoomBase;
  info: RoomDetails;
}

export function DropPage({ room, info }: Props) {
  const uploads = useMemo(() => openUploads(room, info), []);
  const isOver = useSignal(false);
  const add = (files: Iterable<File>) => uploads.add(Array.from(files, (file) => ({ file })));
  useEffect(() => listenToNetwork(uploads), []);
  useEffect(() => (uploads.areUnfinished.value ? blockLeaving(ask) : undefined), [uploads.areUnfinished.value]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut; the field for files does the same.
    <div
      class="role-page"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        add(event.dataTransfer?.files ?? []);
      }}
    >
      <header>
        <h1 dir="auto">{info.name ? t('dropTitleNamed', { name: info.name }) : t('dropTitle')}</h1>
        <p>{t('dropHint')}</p>
      </header>
      <label class="drop-target" data-over={isOver.value || undefined}>
        <Icon name="plus" />
        <span>{t('dropTarget')}</span>
        <input
          type="file"
          multiple
          class="visually-hidden"
          onChange={({ currentTarget }) => {
            add(currentTarget.files ?? []);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
      </label>
      <ul class="role-files" aria-label={t('files')} aria-live="polite">
        {uploads.list.value.map((upload) => (
          <DroppedFile key={upload} upload={upload} />
        ))}
      </ul>
      <NoteForm onNote={(note) => add([note])} />
    </div>
  );
}

function DroppedFile({ upload }: { upload: Upload }) {
  if (upload.state.value.name !== 'done') return <UploadRow upload={upload} />;
  return (
    <li class="dropped">
      <Icon name="check" />
      <span dir="auto">{upload.name}</span>
      <small>
        {size(upload.file.size)} · {t('dropSent')}
      </small>
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
        <button type="submit" class="button">
          {t('dropSendNote')}
        </button>
      </div>
    </form>
  );
}

function noteOf(text: string): File {
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  return new File([text], `note-${date}-${time.replaceAll(':', '')}.txt`, { type: 'text/plain' });
}

/** The files of the room are not known here, so those that were sent stay in the list. */
function openUploads(room: RoomBase, { limits }: RoomDetails): Uploads {
  return createUploads(
    {
      code: room.code,
      requests: async () => room,
      content: () => ({ limits, files: [] }) as unknown as RoomContent,
      hide: (text) => text,
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

const ask = (proceed: () => void): void => {
  if (confirm(t('leaveHint'))) proceed();
};
