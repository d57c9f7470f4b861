/** Keeps the visible part of a text field in place while others edit the text around it. */

/** The first visible position. Estimated in browsers that cannot report it. */
export function firstVisiblePosition(field: HTMLTextAreaElement): number {
  if (field.scrollTop === 0) return 0;
  const { left, top } = field.getBoundingClientRect();
  const { paddingLeft } = getComputedStyle(field);
  const x = left + field.clientLeft + Number.parseFloat(paddingLeft) + 1;
  const at = document.caretPositionFromPoint?.(x, Math.max(top, 0) + field.clientTop + 2);
  if (at?.offsetNode === field) return at.offset;
  return Math.floor((field.value.length * field.scrollTop) / field.scrollHeight);
}

/** Changes text above the visible part, which stays in place. */
export function keepScrollPosition(field: HTMLTextAreaElement, changeAbove: () => void): void {
  const { scrollTop, scrollHeight } = field;
  changeAbove();
  field.scrollTop = scrollTop + field.scrollHeight - scrollHeight;
}

/** Scrolls to a position that is not visible. Browsers do this for typing, but not for scripts. */
export function scrollToPosition(field: HTMLTextAreaElement, position: number): void {
  const bottom = bottomOf(field, position);
  const { scrollTop, clientHeight } = field;
  const lineHeight = Number.parseFloat(getComputedStyle(field).lineHeight) || 24;
  const isVisible = bottom - lineHeight >= scrollTop && bottom <= scrollTop + clientHeight;
  if (!isVisible) field.scrollTop = bottom - clientHeight / 2;
}

/** Measured on a copy that ends at the position: a textarea does not report where its lines are. */
function bottomOf(field: HTMLTextAreaElement, position: number): number {
  const copy = field.cloneNode() as HTMLTextAreaElement;
  copy.removeAttribute('id');
  copy.className = 'measuring';
  copy.style.width = `${field.offsetWidth}px`;
  copy.value = field.value.slice(0, position);
  field.after(copy);
  const { scrollHeight } = copy;
  copy.remove();
  return scrollHeight - Number.parseFloat(getComputedStyle(field).paddingBottom);
}
