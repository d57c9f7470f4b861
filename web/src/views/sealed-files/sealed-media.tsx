/** An image, a sound or a video of an encrypted room in the viewer. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { percent } from '../../i18n/quantities.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { maxMediaBytes, openMedia } from './media.ts';

interface Props {
  room: RoomModel;
  file: SharedFile;
  /** Shows the decrypted file. */
  show: (url: string) => ComponentChildren;
}

type MediaState =
  | { name: 'decrypting'; bytes: number }
  | { name: 'shown'; url: string }
  | { name: 'failed'; message: string };

export function SealedMedia({ room, file, show }: Props) {
  const state = useSignal<MediaState>({ name: 'decrypting', bytes: 0 });
  useEffect(() => {
    if (file.fileSize > maxMediaBytes) {
      state.value = { name: 'failed', message: t('tooLargeToShow') };
      return;
    }
    const aborter = new AbortController();
    const { signal } = aborter;
    const onBytes = (bytes: number) => {
      if (!signal.aborted) state.value = { name: 'decrypting', bytes };
    };
    openMedia(room, file, signal, onBytes).then(
      (blob) => {
        if (signal.aborted) return;
        const url = URL.createObjectURL(blob);
        signal.addEventListener('abort', () => URL.revokeObjectURL(url));
        state.value = { name: 'shown', url };
      },
      (error) => {
        if (!signal.aborted) state.value = { name: 'failed', message: errorMessage(noteFailure(error)) };
      },
    );
    return () => aborter.abort();
  }, []);

  const { value } = state;
  if (value.name === 'shown') return <>{show(value.url)}</>;
  if (value.name === 'failed')
    return (
      <div class="unplayable">
        <p role="alert">{value.message}</p>
      </div>
    );
  const share = file.fileSize === 0 ? 1 : value.bytes / file.fileSize;
  return (
    <p class="aside">
      {t('decrypting')} {percent(share)}
    </p>
  );
}
