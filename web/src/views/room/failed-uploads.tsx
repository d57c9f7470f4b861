/** Retries or dismisses all failed uploads, when there are several. */
import { t } from '../../i18n/index.ts';
import type { UploadEvent } from '../../room/upload-state.ts';
import type { Upload } from '../../room/uploads.ts';

export function FailedUploads({ uploads }: { uploads: readonly Upload[] }) {
  const failed = uploads.filter(({ state }) => state.value.name === 'failed');
  if (failed.length < 2) return null;
  const canRetry = failed.some(({ state: { value } }) => value.name === 'failed' && value.canRetry);
  const sendAll = (event: UploadEvent) => {
    for (const upload of failed) upload.send(event);
  };
  return (
    <div class="failed-uploads">
      <p class="problem">{t('uploadsFailed', { n: failed.length })}</p>
      {canRetry && (
        <button type="button" class="button" onClick={() => sendAll({ type: 'retry' })}>
          {t('retryAll')}
        </button>
      )}
      <button type="button" class="button" onClick={() => sendAll({ type: 'cancel' })}>
        {t('dismissAll')}
      </button>
    </div>
  );
}
