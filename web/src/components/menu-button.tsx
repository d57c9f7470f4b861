/** The button of a menu, whose code is loaded when the menu is first opened. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface Props {
  /** Set to the button while the menu is open. */
  anchor: Signal<HTMLElement | undefined>;
  /** The accessible name, if the button only has an icon. */
  label?: string;
  children: ComponentChildren;
}

export function MenuButton({ anchor, label, children }: Props) {
  // A press beside an open menu closes it, also a press on its button, which must not open it again.
  const wasOpen = useRef(false);
  return (
    <button
      type="button"
      class={label ? 'button round' : 'button'}
      aria-label={label}
      title={label}
      aria-haspopup="menu"
      aria-expanded={anchor.value !== undefined}
      onPointerDown={() => (wasOpen.current = anchor.value !== undefined)}
      onClick={({ currentTarget }) => {
        anchor.value = wasOpen.current ? undefined : currentTarget;
        wasOpen.current = false;
      }}
    >
      {children}
    </button>
  );
}
