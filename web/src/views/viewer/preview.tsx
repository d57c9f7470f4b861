/** A file in the viewer, by its kind: an image, a player, a PDF or text. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button, Problem } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { MoreIcon } from '../../components/more-icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { hrefOf } from '../../server-connection.ts';
import { iconOf, previewOf } from '../files/file-kind.ts';
import { DownloadLink } from '../files/file-links.tsx';
import { type Loading, load } from '../requests.ts';

const SealedMedia = lazy(() => import('../sealed-files/sealed-files.tsx'), 'SealedMedia');

export function Preview({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
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

function MediaPreview({ room, file, url }: { room: RoomOfFiles; file: SharedFile; url: string }) {
  const { fileName, contentType } = file;
  const state = useSignal<'loading' | 'shown' | 'failed'>('loading');
  const onShown = () => (state.value = 'shown');
  const onError = () => (state.value = 'failed');
  if (state.value === 'failed') return <Unplayable room={room} file={file} />;
  const preview = previewOf(file);
  const events = { onLoadedMetadata: onShown, onError };
  const player = { src: url, controls: true, preload: 'metadata', 'aria-label': fileName, ...events } as const;
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
function Unplayable({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
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

/** The beginning of a text file, in a fixed-width font. */
function TextPreview({ room, file }: { room: RoomOfFiles; file: SharedFile }) {
  const state = useSignal<Loading<TextFile>>({});
  const attempt = useSignal(1);
  useEffect(() => {
    const aborter = new AbortController();
    const { signal } = aborter;
    state.value = {};
    void load(async () => readText(await (await room.requests()).download(file, { signal }))).then((next) => {
      if (!signal.aborted) state.value = next;
    });
    return () => aborter.abort();
  }, [attempt.value]);

  const { value: text, error } = state.value;
  if (error)
    return (
      <div class="unplayable">
        <Problem>{errorMessage(error)}</Problem>
        <Button label={t('tryAgain')} onClick={() => attempt.value++} />
      </div>
    );
  if (!text?.content) return <p class="aside">{t(text ? 'fileEmpty' : 'loading')}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
    <section class="viewed-text" aria-label={t('preview')} tabIndex={0}>
      {text.isCut && <p class="aside">{t('fileCut', { size: size(maxTextBytes) })}</p>}
      <pre dir="auto">{text.content}</pre>
    </section>
  );
}

const maxTextBytes = 256 * 1024;

/** `isCut`: whether the file is longer. */
type TextFile = { content: string; isCut: boolean };

/** Reads no more of the response than it needs. */
async function readText(response: Response): Promise<TextFile> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let content = '';
  let space = maxTextBytes;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    content += decoder.decode(next.value.subarray(0, space), { stream: true });
    space -= next.value.length;
    if (space >= 0) continue;
    await reader?.cancel();
    // Without the rest of the decoder: half a character would become a replacement character.
    return { content, isCut: true };
  }
  return { content: content + decoder.decode(), isCut: false };
}
