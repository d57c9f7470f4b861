/** Instead of a file that the server does not return: it is missing, or it can be received only in its room. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/all-strings.ts';
import { MessagePage } from './message-page.tsx';

export function MissingFile() {
  const isOneTime = useSignal<boolean | undefined>(undefined);
  useEffect(() => void isOneTimeFile(location.pathname).then((found) => (isOneTime.value = found)), []);
  if (isOneTime.value === undefined) return null;
  if (isOneTime.value) return <MessagePage icon="once" title={t('oneTimeLink')} hint={t('oneTimeLinkHint')} />;
  return <MessagePage title={t('fileMissing')} hint={t('fileMissingHint')} />;
}

/** A script cannot read the status of its own page. A HEAD request has the same status and does not use up the file. */
async function isOneTimeFile(path: string): Promise<boolean> {
  const response = await fetch(path, { method: 'HEAD' }).catch(() => undefined);
  return response?.status === 409;
}
