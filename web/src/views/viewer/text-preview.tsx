/** The beginning of a text file, in a fixed-width font. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { toPoproomError } from '../../server.ts';
import { maxTextBytes, readText, type TextFile } from './text-file.ts';

type TextState = { status: 'loading' } | ({ status: 'loaded' } & TextFile) | { status: 'failed'; error: PoproomError };

export function TextPreview({ room, file }: { room: RoomModel; file: SharedFile }) {
  const state = useSignal<TextState>({ status: 'loading' });
  const attempt = useSignal(1);
  useEffect(() => {
    const aborter = new AbortController();
    const { signal } = aborter;
    state.value = { status: 'loading' };
    void load(room, file, signal).then((next) => {
      if (!signal.aborted) state.value = next;
    });
    return () => aborter.abort();
  }, [attempt.value]);

  const shown = state.value;
  if (shown.status === 'loading') return <p class="aside">{t('loading')}</p>;
  if (shown.status === 'failed') return <Failed error={shown.error} onRetry={() => attempt.value++} />;
  if (shown.content === '') return <p class="aside">{t('fileEmpty')}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
    <section class="viewed-text" aria-label={t('preview')} tabIndex={0}>
      {shown.isCut && <p class="aside">{t('fileCut', { size: size(maxTextBytes) })}</p>}
      <pre dir="auto">{shown.content}</pre>
    </section>
  );
}

async function load(room: RoomModel, file: SharedFile, signal: AbortSignal): Promise<TextState> {
  try {
    return { status: 'loaded', ...(await readText(await room.requests().download(file, { signal }))) };
  } catch (error) {
    return { status: 'failed', error: toPoproomError(error) };
  }
}

function Failed({ error, onRetry }: { error: PoproomError; onRetry: () => void }) {
  return (
    <div class="unplayable">
      <p class="problem" role="alert">
        {errorMessage(error)}
      </p>
      <button type="button" class="button" onClick={onRetry}>
        {t('tryAgain')}
      </button>
    </div>
  );
}
