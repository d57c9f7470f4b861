/** A full-page message: what happened, and what to do next. */
import type { ComponentChildren } from 'preact';
import { Button, Icon, type IconName } from '../components/controls.tsx';
import { takeFocus } from '../components/keep-focus.ts';
import { t } from '../i18n/strings.ts';
import { goHome } from '../router.ts';

interface Props {
  title: ComponentChildren;
  icon?: IconName;
  hint?: ComponentChildren;
  extra?: ComponentChildren;
  /** The main action, before the button that leads home. */
  action?: ComponentChildren;
}

export function MessagePage({ title, icon = 'warning', hint, extra, action }: Props) {
  return (
    <section class="message-page">
      <span class="message-icon">
        <Icon name={icon} />
      </span>
      {/* The previous view is gone and the focus with it; screen readers continue here. */}
      <h1 ref={takeFocus} tabIndex={-1}>
        {title}
      </h1>
      {hint && <p>{hint}</p>}
      {extra}
      <div class="actions">
        {action}
        <Button class={action ? '' : 'primary'} label={t('backToHome')} onClick={goHome} />
      </div>
    </section>
  );
}
