/** An alert that is rarely shown, and that the user can dismiss. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../../components/icon.tsx';
import { t } from '../../i18n/strings.ts';

interface Props {
  icon: IconName;
  children: ComponentChildren;
  /** An action that solves the problem. */
  action?: { label: string; run: () => void };
  onDismiss: () => void;
}

export function DismissibleAlert({ icon, children, action, onDismiss }: Props) {
  return (
    <p class="alert warning">
      <Icon name={icon} />
      <span>{children}</span>
      {action && (
        <button type="button" class="button" onClick={action.run}>
          {action.label}
        </button>
      )}
      <button type="button" class="button round" aria-label={t('close')} onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </p>
  );
}
