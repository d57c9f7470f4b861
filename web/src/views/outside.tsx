/** For whoever cannot go on here: what happened, and what to do. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { goHome } from '../address.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { t } from '../i18n/index.ts';

interface Props {
  title: ComponentChildren;
  icon?: IconName;
  /** What to do about it. */
  children?: ComponentChildren;
  /** Instead of the way home. */
  action?: ComponentChildren;
}

export function Outside({ title, icon = 'warning', children, action }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The view before is gone, and the focus with it: here a screen reader goes on.
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <section class="outside">
      <span class="outside-icon">
        <Icon name={icon} />
      </span>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children && <p>{children}</p>}
      <div class="actions">
        {action}
        <button type="button" class={action ? 'button' : 'button primary'} onClick={goHome}>
          {t('startOrJoin')}
        </button>
      </div>
    </section>
  );
}
