/** A file in the viewer, by its kind: an image, a player, a PDF or text. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../components/icon.tsx';
import { MoreIcon } from '../../components/more-icon.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { iconOf, previewOf } from '../files/file-kind.ts';
import { TextPreview } from './text-preview.tsx';

export function Preview({ room, file }: { room: RoomModel; file: SharedFile }) {
  const { fileName, fileUrl } = file;
  switch (previewOf(file)) {
    case 'text':
      return <TextPreview room={room} file={file} />;
    case 'pdf':
      // The file is sandboxed by its own Content-Security-Policy; browsers show no PDF in a sandboxed frame.
      return <iframe class="viewed-pdf" src={fileUrl} title={fileName} />;
    default:
      return <MediaPreview file={file} />;
  }
}

type MediaState = 'loading' | 'shown' | 'failed';

function MediaPreview({ file }: { file: SharedFile }) {
  const { fileName, fileUrl, contentType } = file;
  const state = useSignal<MediaState>('loading');
  const onShown = () => {
    state.value = 'shown';
  };
  const onError = () => {
    state.value = 'failed';
  };
  if (state.value === 'failed') return <Unplayable file={file} />;
  const preview = previewOf(file);
  const player = {
    src: fileUrl,
    controls: true,
    preload: 'metadata',
    'aria-label': fileName,
    onLoadedMetadata: onShown,
    onError,
  } as const;
  return (
    <>
      {state.value === 'loading' && <p class="aside">{t('loading')}</p>}
      {preview === 'image' && <img src={fileUrl} alt={fileName} onLoad={onShown} onError={onError} />}
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
function Unplayable({ file: { fileName, fileUrl, contentType } }: { file: SharedFile }) {
  return (
    <div class="unplayable">
      <MoreIcon name={iconOf(fileName, contentType)} />
      <p role="alert">{t('cannotShowFile')}</p>
      <a class="button primary" href={`${fileUrl}?download`} download={fileName}>
        <Icon name="down" />
        {t('download')}
      </a>
    </div>
  );
}
