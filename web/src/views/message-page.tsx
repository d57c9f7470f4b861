/** A full-page message: what happened, and what to do next. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button, Icon, type IconName } from '../components/controls.tsx';
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
  const heading = useRef<HTMLHeadingElement>(null);
  // The previous view is gone and the focus with it; screen readers continue here.
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <section class="message-page">
      <span class="message-icon">
        <Icon name={icon} />
      </span>
      <h1 ref={heading} tabIndex={-1}>
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
