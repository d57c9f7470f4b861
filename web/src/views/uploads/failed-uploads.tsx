/** Retries or dismisses all failed uploads. */
import { t } from '../../i18n/all-strings.ts';
import type { UploadEvent } from '../../room/upload-state.ts';
import type { Upload } from '../../room/uploads.ts';

export function FailedUploads({ failed }: { failed: readonly Upload[] }) {
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
