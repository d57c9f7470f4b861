/** A menu that a button opens: beside the button, or on a phone at the bottom of the screen. Loaded on demand. */
import type { Signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './controls.tsx';
import { MoreIcon, type MoreIconName } from './more-icon.tsx';
import '../style/menu.css';

export interface MenuEntry {
  icon: MoreIconName;
  label: string;
  onSelect: () => void;
  /** For an entry that is on or off. */
  isChecked?: boolean;
  isDisabled?: boolean;
}

interface Props {
  /** The button that opened the menu; undefined while it is closed. See `MenuButton`. */
  anchor: Signal<HTMLElement | undefined>;
  label: string;
  entries: readonly MenuEntry[];
}

export function Menu(props: Props) {
  const button = props.anchor.value;
  return button ? <OpenMenu {...props} button={button} /> : null;
}

function OpenMenu({ anchor, button, label, entries }: Props & { button: HTMLElement }) {
  const menu = useRef<HTMLDivElement>(null);
  const items = () => [...(menu.current?.querySelectorAll('button') ?? [])];

  useLayoutEffect(() => {
    if (!menu.current) return;
    menu.current.showPopover?.();
    place(menu.current, button);
    items()[0]?.focus({ preventScroll: true });
  }, []);

  function onKeyDown(event: KeyboardEvent): void {
    const all = items();
    const next = nextIndex(event.key, all.indexOf(document.activeElement as HTMLButtonElement), all.length);
    if (next === undefined) return;
    event.preventDefault();
    all[next]?.focus();
  }

  /** Closes the menu first, so that a dialog returns the focus to the button. */
  function select({ isDisabled, onSelect }: MenuEntry): void {
    if (isDisabled) return;
    menu.current?.hidePopover?.();
    button.focus();
    anchor.value = undefined;
    onSelect();
  }

  return (
    <div
      class="menu"
      role="menu"
      popover="auto"
      aria-label={label}
      ref={menu}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onToggle={({ newState }) => {
        if (newState !== 'closed') return;
        if (document.activeElement === document.body) button.focus();
        anchor.value = undefined;
      }}
    >
      {entries.map((entry) => (
        <Button
          key={entry.label}
          role={entry.isChecked === undefined ? 'menuitem' : 'menuitemcheckbox'}
          aria-checked={entry.isChecked}
          aria-disabled={entry.isDisabled}
          tabIndex={-1}
          onClick={() => select(entry)}
        >
          <MoreIcon name={entry.icon} />
          <span>{entry.label}</span>
          {entry.isChecked && <MoreIcon name="check" />}
        </Button>
      ))}
    </div>
  );
}

/** The entry that a key leads to. Tab stays in the menu, as arrow keys do. */
function nextIndex(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowDown') return (index + 1) % count;
  if (key === 'ArrowUp') return (index - 1 + count) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

const gap = 4;

/** Below the button, or above it if there is more space. On a phone, the style sheet decides. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const page = document.documentElement;
  const x = left + right > page.clientWidth ? right - width : left;
  const fitsBelow = bottom + gap + height <= page.clientHeight || top < height + gap;
  const y = fitsBelow ? bottom + gap : top - height - gap;
  menu.style.setProperty('--x', `${Math.max(gap, Math.min(x, page.clientWidth - width - gap)) + scrollX}px`);
  menu.style.setProperty('--y', `${y + scrollY}px`);
}
