/** Shows whether the text is saved. */
import { Icon, type IconName } from '../../components/icon.tsx';
import { errorMessage } from '../../i18n/error-message.ts';
import { t } from '../../i18n/strings.ts';
import type { TextStatus as Status, TextModel } from '../../room/text-model.ts';

const icons: Record<Status, IconName | undefined> = {
  saved: 'check',
  saving: undefined,
  offline: 'offline',
  refused: 'warning',
};

export function TextStatus({ text }: { text: TextModel }) {
  const status = text.status.value;
  const icon = icons[status];
  const message = messageOf(status, text);
  return (
    <>
      <p class="status" data-status={status}>
        {icon ? <Icon name={icon} /> : <i class="dot" />}
        {message}
      </p>
      {/* Screen readers must not announce saving at every keystroke. */}
      <p class="visually-hidden" role="status">
        {(status === 'offline' || status === 'refused') && message}
      </p>
    </>
  );
}

function messageOf(status: Status, { refusal }: TextModel): string {
  if (status === 'refused') return refusal.value ? errorMessage(refusal.value) : t('saving');
  return t(status);
}
