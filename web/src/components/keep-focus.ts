/** Keeps the focus near its place when the focused element is removed from the page. */

let place: Place | undefined;
let lastFocused: Element | null = null;

/** Browsers move the focus to the body instead, where keys do nothing and screen readers start from the top. */
export function keepFocus(root: HTMLElement): void {
  root.addEventListener('focusin', ({ target }) => {
    lastFocused = target as Element;
    // After a message with Undo has gone, the focus returns to where it was before.
    if (!lastFocused.closest('.notices')) place = placeOf(target as HTMLElement);
  });
  new MutationObserver(() => {
    if (!lastFocused || lastFocused.isConnected) return;
    lastFocused = null;
    if (isFocusNowhere() && place) successorOf(place)?.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });
}

/** Whether keys would go to no control: the focus is on the body or on the whole view. */
function isFocusNowhere(): boolean {
  const { activeElement } = document;
  return !activeElement || activeElement === document.body || activeElement.localName === 'main';
}

type Place = ReturnType<typeof placeOf>;

/** Its ancestors from the inside out, each with its index in the next one, and its position in its list item. */
function placeOf(element: HTMLElement) {
  const ancestors: { node: Element; index: number }[] = [];
  for (let node: Element | null = element; node?.parentElement; node = node.parentElement) {
    ancestors.push({ node, index: [...node.parentElement.children].indexOf(node) });
  }
  const item = element.closest('li');
  return { element, ancestors, control: item ? controlsIn(item).indexOf(element) : 0 };
}

/** The same control of the next item in a list, or else the heading of the nearest part that is left. */
function successorOf({ element, ancestors, control }: Place): HTMLElement | undefined {
  if (element.isConnected && element.checkVisibility()) return element;
  const at = ancestors.findIndex(({ node }) => node.isConnected);
  const remaining = ancestors[at]?.node;
  if (!remaining) return undefined;
  const index = ancestors[at - 1]?.index ?? 0;
  const items = remaining.localName === 'ul' ? remaining.children : [];
  const controls = controlsIn(items[Math.min(index, items.length - 1)]);
  return controls[Math.min(control, controls.length - 1)] ?? headingNear(remaining);
}

/** As the `ref` of the element that has the focus when a view appears. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();

/** Puts the focus into a field, unless that would open the on-screen keyboard: then on a heading. */
export function focusToType(field: HTMLElement | null, heading: HTMLElement | null): void {
  const isTouchScreen = matchMedia('(pointer: coarse)').matches;
  if (isFocusNowhere()) (isTouchScreen ? heading : field)?.focus({ preventScroll: true });
}

const controlsIn = (item: Element | undefined): HTMLElement[] =>
  [...(item?.querySelectorAll<HTMLElement>('a[href], button:not(:disabled)') ?? [])].filter((control) =>
    control.checkVisibility(),
  );

function headingNear(node: Element): HTMLElement | undefined {
  const part = node.closest<HTMLElement>('section, dialog, main');
  const heading = part?.querySelector<HTMLElement>('h1, h2') ?? part ?? undefined;
  if (heading) heading.tabIndex = -1;
  return heading;
}
