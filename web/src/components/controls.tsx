/** Small parts of forms and pages: buttons with a label or with an icon alone, error messages, and the icons. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

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

/** Line icons on a 24 × 24 grid: those of the first views. */
const paths = {
  arrow: 'M5 12h14M13 6l6 6-6 6',
  camera: 'M4 8h3l2-3h6l2 3h3v11H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  clock: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3 2',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  delete: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  down: 'M12 4v12M6 11l6 6 6-6M5 20h14',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 8.75h.01',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  more: 'M5.25 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5zM12 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5zM18.75 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5z',
  offline: 'M4 4l16 16M5 12.5a10 10 0 0 1 4-2.5M19 12.5a10 10 0 0 0-6-2.9M8.5 16a5 5 0 0 1 6-.5M12 19.5h.01',
  once: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM10 9.75L12.25 8v8.25',
  paste: 'M9 4h6v3H9zM9 5H6v15h12V5h-3M9 12h6M9 16h4',
  plus: 'M12 5v14M5 12h14',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 19v1',
  redo: 'M19 9h-9a5 5 0 0 0 0 10h4M15 5l4 4-4 4',
  retry: 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  settings: 'M5 7h8M17 7h2M5 17h2M11 17h8M15 5v4M9 15v4',
  share: 'M12 15V4M8 7.5L12 3.5l4 4M6 12v8h12v-8',
  undo: 'M5 9h9a5 5 0 0 1 0 10h-4M9 5L5 9l4 4',
  unfold: 'M6 9l6 6 6-6',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
} as const;

export type IconName = keyof typeof paths;

/** The arrow points in the direction of reading. Undo and redo look the same in all languages. */
export function Icon({ name }: { name: IconName }) {
  return <Drawing path={paths[name]} class={name === 'arrow' ? 'icon directional' : 'icon'} />;
}

export function Drawing({ path, class: className = 'icon' }: { path: string; class?: string }) {
  return (
    <svg class={className} viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** The logo: a room and a dot that pops into it. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <path class="logo-room" d="M17 5H10a6 6 0 0 0-6 6v11a6 6 0 0 0 6 6h11a6 6 0 0 0 6-6v-7" />
      <circle class="logo-dot" cx="24" cy="8" r="5" />
    </svg>
  );
}
