/** Binds a field to the shared text: what is typed goes there, what comes from there is shown without moving the cursor. */
import { useLayoutEffect } from 'preact/hooks';
import { commonEdges } from '../../room/common-edges.ts';
import { editsBetween, movedBy } from '../../room/merge.ts';
import type { SharedText } from '../../room/shared-text.ts';

export function useSharedField(field: { current: HTMLTextAreaElement | null }, text: SharedText): void {
  // Before the next key can come: what is typed into an unbound field would be lost.
  useLayoutEffect(() => (field.current ? bind(field.current, text) : undefined), [text]);
}

function bind(field: HTMLTextAreaElement, text: SharedText): () => void {
  /** What the person sees. While an input method is at work it lags behind, or the word in the making would break. */
  let shown = field.value;
  /** The text that is shown so. */
  let source = shown;
  let composing = false;

  function show(): void {
    if (composing) return;
    source = text.value.value;
    update(field, asShown(source));
    shown = field.value;
  }

  function take(): void {
    if (field.value === shown) return;
    const before = source;
    source = typedInto(before, shown, field.value);
    shown = field.value;
    text.edit(source, before);
    show();
  }

  const end = new AbortController();
  const on = (type: string, listen: () => void) => field.addEventListener(type, listen, { signal: end.signal });
  on('input', take);
  on('compositionstart', () => {
    composing = true;
  });
  on('compositionend', () => {
    composing = false;
    // In some browsers the last input comes after this.
    take();
    show();
  });
  const stop = text.value.subscribe(show);
  return () => {
    end.abort();
    stop();
  };
}

/** Each step makes the browser lay out the text anew. */
const mostSteps = 20;

/** In few small steps, which leave the rest of the field alone; where they are many, all at once. */
function update(field: HTMLTextAreaElement, text: string): void {
  if (field.value === text) return;
  const edits = editsBetween(field.value, text);
  const { selectionStart, selectionEnd, scrollTop } = field;
  if (edits.length > mostSteps) field.value = text;
  else for (const { from, to, text: words } of edits.toReversed()) field.setRangeText(words, from, to);
  // Some browsers focus what they select in, and take a person away from elsewhere.
  if (field === document.activeElement)
    field.setSelectionRange(movedBy(edits, selectionStart), movedBy(edits, selectionEnd));
  field.scrollTop = scrollTop;
}

/** A field has one kind of line end, whatever the text has. */
const asShown = (text: string): string => text.replace(/\r\n?/g, '\n');

/** The text after what was typed where it is shown: what is new gets its kind of line end, the rest keeps what it has. */
function typedInto(text: string, shown: string, typed: string): string {
  if (text === shown) return typed;
  const { start, end } = commonEdges(shown, typed);
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  const words = typed.slice(start, typed.length - end).replaceAll('\n', lineEnd);
  return text.slice(0, placeIn(text, start)) + words + text.slice(placeIn(text, shown.length - end));
}

/** Where in the text a place of the field is. */
function placeIn(text: string, place: number): number {
  let at = 0;
  for (let seen = 0; seen < place; seen++) at += text.startsWith('\r\n', at) ? 2 : 1;
  return at;
}
