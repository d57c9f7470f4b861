/** A file in the viewer, by its kind: an image, a player, a PDF or text. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../components/icon.tsx';
import { MoreIcon } from '../../components/more-icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { hrefOf } from '../../server.ts';
import { iconOf, previewOf } from '../files/file-kind.ts';
import { DownloadLink } from '../files/file-links.tsx';
import { SealedMedia } from '../files/lazy-sealed-files.ts';
import { TextPreview } from './text-preview.tsx';

export function Preview({ room, file }: { room: RoomModel; file: SharedFile }) {
  const { fileName } = file;
  switch (previewOf(file)) {
    case 'text':
      return <TextPreview room={room} file={file} />;
    case 'pdf':
      // The file is sandboxed by its own Content-Security-Policy; browsers show no PDF in a sandboxed frame.
      return <iframe class="viewed-pdf" src={hrefOf(file)} title={fileName} />;
    default:
      if (file.meta === undefined) return <MediaPreview room={room} file={file} url={hrefOf(file)} />;
      return <SealedMedia room={room} file={file} show={(url) => <MediaPreview room={room} file={file} url={url} />} />;
  }
}

type MediaState = 'loading' | 'shown' | 'failed';

function MediaPreview({ room, file, url }: { room: RoomModel; file: SharedFile; url: string }) {
  const { fileName, contentType } = file;
  const state = useSignal<MediaState>('loading');
  const onShown = () => {
    state.value = 'shown';
  };
  const onError = () => {
    state.value = 'failed';
  };
  if (state.value === 'failed') return <Unplayable room={room} file={file} />;
  const preview = previewOf(file);
  const player = {
    src: url,
    controls: true,
    preload: 'metadata',
    'aria-label': fileName,
    onLoadedMetadata: onShown,
    onError,
  } as const;
  return (
    <>
      {state.value === 'loading' && <p class="aside">{t('loading')}</p>}
      {preview === 'image' && <img src={url} alt={fileName} onLoad={onShown} onError={onError} />}
      {preview === 'video' && <video {...player} playsInline />}
      {preview === 'audio' && (
        <div class="viewed-audio">
          <MoreIcon name={iconOf(fileName, contentType)} />
          <audio {...player} />
        </div>
      )}
    </>
  );
}

/** A damaged file, or a format that this browser does not support. */
function Unplayable({ room, file }: { room: RoomModel; file: SharedFile }) {
  return (
    <div class="unplayable">
      <MoreIcon name={iconOf(file.fileName, file.contentType)} />
      <p role="alert">{t('cannotShowFile')}</p>
      <DownloadLink class="button primary" room={room} file={file}>
        <Icon name="down" />
        {t('download')}
      </DownloadLink>
    </div>
  );
}
