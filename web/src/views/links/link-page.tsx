/** The page of a link with a role: a room to read, or a place to drop files. It shows nothing else of the room. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { LiveEvent } from '../../../../src/client/live-state.ts';
import type { RoomBase } from '../../../../src/client/room.ts';
import { createRoomPin } from '../../../../src/client/room-access.ts';
import { isEncryptedCode, type LinkId } from '../../../../src/protocol/room-code.ts';
import type { RoomDetails } from '../../../../src/protocol/types.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { deviceId } from '../../device/device-id.ts';
import { appearance } from '../../device/identity.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { size } from '../../i18n/quantities.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { followRoom, openRequests } from '../../room/room-requests.ts';
import { hrefOf, toPoproomError } from '../../server-connection.ts';
import { MessagePage } from '../message-page.tsx';
import { ReadView } from '../read/read-view.tsx';
import { DropPage } from './drop-page.tsx';
import '../../style/role-links.css';

type State = 'opening' | 'gone' | { info: RoomDetails } | { error: PoproomError };

/** Fails closed: of an encrypted room, this page could only show sealed data, and would send files that are not sealed. */
export function LinkPage({ id }: { id: LinkId }) {
  if (isEncryptedCode(id)) return <MessagePage title={t('linkEncrypted')}>{t('linkEncryptedHint')}</MessagePage>;
  return <PlainLinkPage id={id} />;
}

function PlainLinkPage({ id }: { id: LinkId }) {
  const state = useSignal<State>('opening');
  const room = openRequests({ code: id, pin: createRoomPin(undefined), ...appearance(deviceId) });

  async function open(): Promise<void> {
    state.value = 'opening';
    try {
      state.value = { info: await room.info() };
    } catch (cause) {
      const error = toPoproomError(cause);
      state.value = /^ROOM_(NOT_FOUND|EXPIRED)$/.test(error.code) ? 'gone' : { error };
    }
  }

  useEffect(() => void open(), [id]);

  const onGone = () => {
    state.value = 'gone';
  };
  const { value } = state;
  if (value === 'opening')
    return (
      <p class="link-opening" role="status">
        {t('linkOpening')}
      </p>
    );
  if (value === 'gone') return <MessagePage title={t('linkGone')}>{t('linkGoneHint')}</MessagePage>;
  if ('error' in value) {
    const retry = (
      <button type="button" class="button primary" onClick={() => void open()}>
        {t('tryAgain')}
      </button>
    );
    return <MessagePage title={errorMessage(value.error)} action={retry} />;
  }
  return value.info.role === 'drop' ? (
    <DropPage room={room} info={value.info} />
  ) : (
    <ReadPage room={room} info={value.info} onGone={onGone} />
  );
}

interface ReadProps {
  room: RoomBase;
  info: RoomDetails;
  onGone: () => void;
}

/** The text and the files, as they change. */
function ReadPage({ room, info, onGone }: ReadProps) {
  const text = useSignal<string | undefined>(undefined);
  const files = useSignal<readonly SharedFile[]>([]);
  const name = useSignal(info.name);
  const isOffline = useSignal(false);
  const asModel = useMemo(() => ({ requests: async () => room }), []);

  function onEvent(event: LiveEvent): void {
    if (event.type === 'waiting' || event.type === 'connected') isOffline.value = event.type === 'waiting';
    if (event.type === 'content') text.value = event.content;
    if (event.type === 'room') name.value = event.name;
    if (event.type === 'file-added')
      files.value = [...files.value.filter(({ fileId }) => fileId !== event.file.fileId), event.file];
    if (event.type === 'file-removed') files.value = files.value.filter(({ fileId }) => fileId !== event.fileId);
    if (event.type !== 'snapshot') return;
    text.value = event.content.content;
    files.value = event.files;
    name.value = event.room.name;
  }

  useEffect(() => {
    const aborter = new AbortController();
    followRoom(room, aborter.signal, onEvent).then(
      (end) => end !== 'left' && onGone(),
      () => !aborter.signal.aborted && onGone(),
    );
    return () => aborter.abort();
  }, []);

  return (
    <div class="role-page">
      <header>
        <h1 dir="auto">{name.value ?? t('linkRoleRead')}</h1>
        <p role="status">{isOffline.value ? t('errorOffline') : t('linkReadOnly')}</p>
      </header>
      <section class="card" aria-label={t('text')}>
        {text.value !== undefined && (
          <>
            {text.value ? <ReadView text={text.value} files={files.value} room={asModel} /> : <p>{t('linkNoText')}</p>}
            <div class="actions">
              <CopyButton text={text.value} label={t('copyText')} />
            </div>
          </>
        )}
      </section>
      {files.value.length > 0 && <Files files={files.value} room={room} />}
    </div>
  );
}

function Files({ files, room }: { files: readonly SharedFile[]; room: RoomBase }) {
  // Receiving a one-time file erases it, which only members may do.
  const readable = files.filter(({ once }) => !once);
  return (
    <section class="card" aria-label={t('files')}>
      <ul class="role-files">
        {readable.map((file) => (
          <li key={file.fileId}>
            <a href={hrefOf(file)} download={file.fileName}>
              <Icon name="down" />
              <span dir="auto">{file.fileName}</span>
              <small>{size(file.fileSize)}</small>
            </a>
          </li>
        ))}
      </ul>
      {readable.length > 1 && (
        <div class="actions">
          <button type="button" class="button" onClick={() => void downloadAll(room)}>
            <Icon name="down" />
            {t('downloadAll')}
          </button>
        </div>
      )}
    </section>
  );
}

async function downloadAll(room: RoomBase): Promise<void> {
  location.assign(await room.zipUrl());
}
