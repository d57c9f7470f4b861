/** The button of a menu, whose code is loaded when the menu is first opened. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface Props {
  /** `anchor` is set to the button while the menu is open. */
  menu: (anchor: Signal<HTMLElement | undefined>) => ComponentChildren;
  /** The accessible name, if the button only has an icon. */
  label?: string;
  children: ComponentChildren;
}

export function MenuButton({ menu, label, children }: Props) {
  const anchor = useSignal<HTMLElement | undefined>(undefined);
  const isUsed = useRef(false);
  isUsed.current ||= anchor.value !== undefined;
  // A press beside an open menu closes it, also a press on its button, which must not open it again.
  const wasOpen = useRef(false);
  return (
    <>
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
      {isUsed.current && menu(anchor)}
    </>
  );
}
