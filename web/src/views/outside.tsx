/** For whoever cannot go on here: what happened, and what to do. */
import type { ComponentChildren } from 'preact';
import { goHome } from '../address.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { t } from '../words/index.ts';

interface Props {
  title: string;
  icon?: IconName;
  /** What to do about it. */
  children?: ComponentChildren;
  /** Instead of the way home. */
  action?: ComponentChildren;
}

export function Outside({ title, icon = 'warning', children, action }: Props) {
  return (
    <section class="outside" role="alert">
      <span class="outside-icon">
        <Icon name={icon} />
      </span>
      <h1>{title}</h1>
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
