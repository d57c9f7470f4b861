/** Whether the text is stored. */
import { Icon, type IconName } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';
import { problemText } from '../../i18n/problem.ts';
import type { TextStatus as Status, TextModel } from '../../room/text-model.ts';

const icons: Record<Status, IconName | undefined> = {
  saved: 'check',
  sending: undefined,
  offline: 'offline',
  refused: 'warning',
};

export function TextStatus({ text }: { text: TextModel }) {
  const status = text.status.value;
  const icon = icons[status];
  const words = wordsOf(status, text);
  return (
    <>
      <p class="status" data-status={status}>
        {icon ? <Icon name={icon} /> : <i class="dot" />}
        {words}
      </p>
      {/* A screen reader must not say at every key that the text is being sent and saved. */}
      <p class="out-of-sight" role="status">
        {(status === 'offline' || status === 'refused') && words}
      </p>
    </>
  );
}

function wordsOf(status: Status, { refusal }: TextModel): string {
  if (status === 'refused') return refusal.value ? problemText(refusal.value) : t('sending');
  return t(status);
}
