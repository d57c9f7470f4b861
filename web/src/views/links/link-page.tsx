/**
 * The page of a link with a role: a room to read, or a place to drop files. It shows nothing else of the room. The keys of
 * an encrypted room are in the fragment of its link, and stay in this tab.
 */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { LiveEvent } from '../../../../src/client/live-state.ts';
import { createRoomPin } from '../../../../src/client/room-access.ts';
import { isEncryptedCode, type LinkId } from '../../../../src/protocol/room-code.ts';
import { dropEnvelopePrefix } from '../../../../src/protocol/sealed.ts';
import { Button, Icon } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { appearance } from '../../device/identity.ts';
import { deviceId, savedKey, saveNewKey, takeKeyFromAddress } from '../../device/recent-rooms.ts';
import { isBoolean, sessionStore } from '../../device/storage.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, size } from '../../i18n/strings.ts';
import { limits } from '../../page-settings.ts';
import type { OpenedLink, RoomContent, RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { followRoom, openRequests } from '../../room/room-requests.ts';
import { createUploads, timeForName } from '../../room/upload-queue.ts';
import type { IncomingFile, Upload, Uploads } from '../../room/upload-state.ts';
import { onPlainClick, useLeaveQuestion } from '../../router.ts';
import { toPoproomError } from '../../server-connection.ts';
import { isViewable } from '../files/file-kind.ts';
import { DownloadButton, downloadFiles, FileName, FileThumbnail, factsOf } from '../files/file-links.tsx';
import { Thumbnail } from '../files/thumbnail.tsx';
import { UploadRow } from '../files/upload-rows.tsx';
import { MessagePage } from '../message-page.tsx';
import { ReadView } from '../read/read-view.tsx';
import { DropArea } from '../room/add-files.tsx';
import { AbuseContact } from '../server-notes.tsx';
import '../../style/role-links.css';
import '../../style/file-list.css';
import '../../style/file-rows.css';

const LeaveDialog = lazy(() => import('../room/dialogs.tsx'), 'LeaveDialog');
const LinkProblem = lazy(() => import('../encryption/encryption-views.tsx'), 'LinkProblem');
const SealedDownloads = lazy(() => import('../sealed-files/sealed-files.tsx'), 'SealedDownloads');
const Viewer = lazy(() => import('../viewer/viewer.tsx'), 'Viewer');

type State = 'opening' | keyof typeof messages | { error: PoproomError } | { link: OpenedLink };

const messages = {
  ended: ['linkGone', 'linkGoneHint'],
  incomplete: ['linkIncomplete', 'linkIncompleteHint'],
  damaged: ['linkDamaged', 'linkDamagedHint'],
} as const;

export function LinkPage({ id }: { id: LinkId }) {
  const state = useSignal<State>('opening');

  function show(next: State): void {
    state.value = next;
    if (next === 'ended') forgetKeys(id);
  }

  async function open(): Promise<void> {
    const fragment = takeKeyFromAddress(id) ?? savedKey(id);
    show('opening');
    show(await tryToOpen(id, fragment));
  }

  useEffect(() => {
    void open();
    // The whole link, opened in this tab, changes only the fragment.
    return listen('hashchange', () => {
      const isShown = typeof state.peek() === 'object' && 'link' in (state.peek() as object);
      if (takeKeyFromAddress(id) && !isShown) void open();
    });
  }, [id]);

  const { value } = state;
  if (value === 'opening')
    return (
      <p class="link-opening" role="status">
        {t('linkOpening')}
      </p>
    );
  if (typeof value === 'string') {
    const [title, hint] = messages[value];
    return <MessagePage key={value} title={t(title)} hint={t(hint)} />;
  }
  if ('error' in value) return <Failure id={id} error={value.error} onRetry={() => void open()} />;
  const { link } = value;
  return (
    <>
      {link.role === 'drop' ? (
        <DropPage link={link} onEnd={() => forgetKeys(id)} />
      ) : (
        <ReadPage link={link} onEnd={(error) => show(error ? endOrError(error) : 'ended')} />
      )}
      {limits.abuseContact && <AbuseContact room={{ requests: async () => link.room }} />}
    </>
  );
}

function Failure({ id, error, onRetry }: { id: LinkId; error: PoproomError; onRetry: () => void }) {
  if (/^(ROLLBACK|FORK|DATA_DAMAGED|NOT_ENCRYPTED)$/.test(error.code)) {
    const openAnyway = () =>
      void loadEncryption()
        .then(({ forgetLinkSeen }) => forgetLinkSeen(id))
        .then(onRetry);
    return <LinkProblem error={error} onRetry={onRetry} onOpenAnyway={openAnyway} />;
  }
  const retry = <Button class="primary" label={t('tryAgain')} onClick={onRetry} />;
  return <MessagePage title={errorMessage(error)} action={retry} />;
}

async function tryToOpen(id: LinkId, fragment: string | undefined): Promise<State> {
  try {
    // By its id or its fragment, never by what the server says.
    if (fragment !== undefined) return { link: await openSealed(id, fragment) };
    if (isEncryptedCode(id)) return sessionStore.get(`ended:${id}`, isBoolean) ? 'ended' : 'incomplete';
    const room = openRequests({ code: id, pin: createRoomPin(undefined), ...appearance(deviceId) });
    const info = await room.info();
    return info.encrypted ? 'incomplete' : { link: { role: info.role ?? 'read', room, info } };
  } catch (cause) {
    const error = toPoproomError(cause);
    return error.code === 'KEY_WRONG' ? 'damaged' : endOrError(error);
  }
}

/** Files are sealed, and texts are opened, whatever the server says about the room. */
async function openSealed(id: LinkId, fragment: string): Promise<OpenedLink> {
  const link = await (await loadEncryption()).openSealedLink(id, fragment);
  return { ...link, info: await link.room.info() };
}

const loadEncryption = () => import('../../room/encryption.ts');

const isEnd = ({ code }: PoproomError): boolean => /^ROOM_(NOT_FOUND|EXPIRED)$/.test(code);

const endOrError = (error: PoproomError): State => (isEnd(error) ? 'ended' : { error });

/** The link has ended. A reload says so again. */
function forgetKeys(id: LinkId): void {
  saveNewKey(id, undefined);
  sessionStore.set(`ended:${id}`, true);
}

/**
 * The text and the files, as they change. Nothing of them is stored on the device. `onEnd` without an error: the link or
 * its room has ended.
 */
function ReadPage({ link, onEnd }: { link: OpenedLink; onEnd: (error?: PoproomError) => void }) {
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
    const others = (id: string) => content.value.files.filter(({ fileId }) => fileId !== id);
    if (event.type === 'waiting' || event.type === 'connected') isOffline.value = event.type === 'waiting';
    if (event.type === 'content') text.value = event.content;
    if (event.type === 'room') name.value = event.name;
    if (event.type === 'file-added') content.value = { files: [...others(event.file.fileId), event.file] };
    if (event.type === 'file-removed') content.value = { files: others(event.fileId) };
    if (event.type !== 'snapshot') return;
    text.value = event.content.content;
    name.value = event.room.name;
    content.value = { files: event.files };
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

/** One large target for files, and a note. Its holder sees only what they have sent. */
function DropPage({ link, onEnd }: { link: OpenedLink; onEnd: () => void }) {
  const { name } = link.info;
  const uploads = useMemo(() => openUploads(link), []);
  const leaving = useLeaveQuestion(uploads.areUnfinished.value);
  useEffect(() => listen('online', uploads.onConnected), []);
  useEffect(() => listen('offline', uploads.onDisconnected), []);
  useEffect(() => uploads.cancelAll, []);
  const list = uploads.list.value;
  const hasEnded = list.some(({ state: { value } }) => value.name === 'failed' && isEnd(value.error));
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
        <Target onFiles={uploads.add} isSmall={list.length > 0} />
      )}
      <ul class="files" aria-label={t('files')}>
        {list.map((upload) => (
          <DroppedFile key={upload} upload={upload} hasEnded={hasEnded} />
        ))}
      </ul>
      <p class="visually-hidden" role="status">
        {list.length > 0 && !uploads.areUnfinished.value && t('dropSent')}
      </p>
      {!hasEnded && <NoteForm onNote={(file) => uploads.add([{ file }])} />}
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
    <>
      <label class="drop-target" data-small={isSmall || undefined}>
        <Icon name="plus" />
        <span>{t('dropTarget')}</span>
        <input type="file" multiple class="visually-hidden" onChange={onChange} />
      </label>
      <DropArea onFiles={onFiles} />
    </>
  );
}

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
    onNote(new File([text], `note-${timeForName()}.txt`, { type: 'text/plain' }));
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
