/** Small parts of forms and pages: buttons with a label or with an icon alone, and error messages. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class'> {
  label?: ComponentChildren;
  icon?: IconName | undefined;
  /** How it looks, such as `primary`. */
  class?: string;
}

export function Button({ label, icon, class: look = '', children, ...attributes }: ButtonProps) {
  return (
    <button type="button" class={`button ${look}`} {...attributes}>
      {icon && <Icon name={icon} />}
      {children}
      {label}
    </button>
  );
}

/** The label is its accessible name, and its tooltip if there is no other one. */
export function IconButton({ label, class: look = '', ...props }: ButtonProps & { label: string }) {
  return <Button class={`round ${look}`} aria-label={label} title={label} {...props} />;
}

/** Screen readers announce it. */
export function Problem({ id, children }: { id?: string; children: ComponentChildren }) {
  return (
    <p class="problem" id={id} role="alert">
      {children}
    </p>
  );
}
