/** Changes and scrolls a text field. The visible part stays in place while others edit the text around it. */
import type { TextEdit } from '../../../../src/client/index.ts';
import { applyEdits } from '../../../../src/text/edits.ts';

/** Each step makes the browser rebuild the whole text. Beyond this number, the text is replaced once. */
const maxSteps = 20;

/** Applies edits in small steps, which keep the rest of the field and the scroll position. */
export function changeField(field: HTMLTextAreaElement, edits: readonly TextEdit[]): void {
  const { scrollTop } = field;
  const top = firstVisiblePosition(field);
  const isAbove = ({ to }: TextEdit) => top > 0 && to <= top;
  applyToField(
    field,
    edits.filter((edit) => !isAbove(edit)),
  );
  field.scrollTop = scrollTop;
  const above = edits.filter(isAbove);
  if (above.length > 0) keepScrollPosition(field, () => applyToField(field, above));
}

/** Scrolls to a position that is not visible. Browsers do this for typing, but not for scripts. */
export function scrollToPosition(field: HTMLTextAreaElement, position: number): void {
  const bottom = bottomOf(field, position);
  const { scrollTop, clientHeight } = field;
  const lineHeight = Number.parseFloat(getComputedStyle(field).lineHeight) || 24;
  const isVisible = bottom - lineHeight >= scrollTop && bottom <= scrollTop + clientHeight;
  if (!isVisible) field.scrollTop = bottom - clientHeight / 2;
}

function applyToField(field: HTMLTextAreaElement, edits: readonly TextEdit[]): void {
  if (edits.length > maxSteps) field.value = applyEdits(field.value, edits);
  else for (const { from, to, insert } of edits.toReversed()) field.setRangeText(insert, from, to, 'preserve');
}

/** The first visible position. Estimated in browsers that cannot report it. */
function firstVisiblePosition(field: HTMLTextAreaElement): number {
  if (field.scrollTop === 0) return 0;
  const { left, top } = field.getBoundingClientRect();
  const { paddingLeft } = getComputedStyle(field);
  const x = left + field.clientLeft + Number.parseFloat(paddingLeft) + 1;
  const at = document.caretPositionFromPoint?.(x, Math.max(top, 0) + field.clientTop + 2);
  if (at?.offsetNode === field) return at.offset;
  return Math.floor((field.value.length * field.scrollTop) / field.scrollHeight);
}

/** Changes text above the visible part, which stays in place. */
function keepScrollPosition(field: HTMLTextAreaElement, changeAbove: () => void): void {
  const { scrollTop, scrollHeight } = field;
  changeAbove();
  field.scrollTop = scrollTop + field.scrollHeight - scrollHeight;
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
