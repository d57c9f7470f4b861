/** Binds a text field to the shared text: typing becomes edits, and remote edits leave the caret and the view alone. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SharedText, TextChange, TextEdit } from '../../../../src/client/index.ts';
import { type Changes, rebase, toChanges, toEdits } from '../../../../src/text/changes.ts';
import { applyEdits, lengthAfter } from '../../../../src/text/edits.ts';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import { limits } from '../../limits.ts';
import { firstVisiblePosition, keepInSight, scrollToPosition } from './field-scroll.ts';
import { asShown, positionInField, positionInText, withLineEndsOf } from './line-ends.ts';
import { endOfEdits, movedPosition } from './moved-position.ts';
import { typedEdits } from './typed-edit.ts';
import { historyCommandOf, offerNativeUndo } from './undo-commands.ts';

export interface SharedField {
  /** Replaces what is selected. */
  insert(text: string): void;
  undo(): void;
  redo(): void;
}

export function useSharedField(field: { current: HTMLTextAreaElement | null }, text: SharedText) {
  const bound = useRef<SharedField>(undefined);
  // Before the next key can come: what is typed into an unbound field would be lost.
  useLayoutEffect(() => {
    if (!field.current) return undefined;
    const binding = new FieldBinding(field.current, text);
    bound.current = binding;
    return () => binding.release();
  }, [text]);
  return bound;
}

interface Selected {
  start: number;
  end: number;
  direction: HTMLTextAreaElement['selectionDirection'];
}

/** Laying out a large text takes the browser up to half a second: remote edits of one are shown in batches. */
const displayIntervalMs = (length: number): number => (length < 100_000 ? 0 : length / 1_000);

/** Each step makes the browser build the whole text again; for more of them it is built once. */
const maxSteps = 20;

/** Inputs that one undo takes back by themselves. */
const standsAlone = /^(insertFrom(Paste|Drop|Yank)|deleteBy(Cut|Drag)|insertReplacementText)/;

class FieldBinding implements SharedField {
  readonly #field: HTMLTextAreaElement;
  readonly #text: SharedText;
  /** The text that the field shows. It is the shared text without the changes that wait. */
  #source: string;
  /** The same as the field has it, by its own line ends. */
  #shown = '';
  /** Changes that are to be shown: an input method is at work, or a large text was laid out just now. */
  #waiting: Changes | undefined;
  #isComposing = false;
  /** The field shows already what happens now: neither has to follow the other. */
  #isShownAlready = false;
  #selection = { start: 0, end: 0 };
  #shownAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #end = new AbortController();

  constructor(field: HTMLTextAreaElement, text: SharedText) {
    this.#field = field;
    this.#text = text;
    this.#source = text.value;
    field.value = asShown(text.value);
    this.#noteField();
    const stop = text.on('change', (change) => this.#onChange(change));
    this.#end.signal.addEventListener('abort', stop);
    this.#listen();
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#end.abort();
  }

  insert(inserted: string): void {
    if (isTooLong(inserted.length)) return;
    this.#takeInput();
    this.#show();
    this.#field.focus();
    const { start: from, end: to } = this.#readSelection();
    this.#text.endGroup();
    this.#text.edit([{ from, to, insert: withLineEndsOf(this.#source, asShown(inserted)) }]);
    this.#text.endGroup();
  }

  undo(): void {
    this.#text.undo();
  }

  redo(): void {
    this.#text.redo();
  }

  #listen(): void {
    const { signal } = this.#end;
    const on = <K extends keyof HTMLElementEventMap>(type: K, listen: (event: HTMLElementEventMap[K]) => void) =>
      this.#field.addEventListener(type, listen, { signal });
    on('keydown', (event) => this.#onCommand(event));
    on('beforeinput', (event) => {
      if (standsAlone.test(event.inputType)) this.#text.endGroup();
      this.#onCommand(event);
    });
    on('input', (event) => {
      this.#takeInput();
      if (standsAlone.test((event as InputEvent).inputType)) this.#text.endGroup();
    });
    on('compositionstart', () => {
      this.#isComposing = true;
    });
    on('compositionend', () => this.#onCompositionEnd());
    document.addEventListener('selectionchange', () => this.#onSelectionChange(), { signal });
  }

  #onCommand(event: KeyboardEvent | InputEvent): void {
    const command = historyCommandOf(event);
    if (!command) return;
    event.preventDefault();
    this[command]();
  }

  #onCompositionEnd(): void {
    this.#isComposing = false;
    this.#takeInput();
    // Some browsers send the last input of a composition after its end.
    setTimeout(() => this.#showWhenDue(), 0);
  }

  /** A person who moved the caret began something else, and undo takes back only that. */
  #onSelectionChange(): void {
    const { selectionStart: start, selectionEnd: end } = this.#field;
    if (this.#isComposing || (start === this.#selection.start && end === this.#selection.end)) return;
    this.#selection = { start, end };
    this.#text.endGroup();
  }

  #takeInput(): void {
    const { value, selectionEnd } = this.#field;
    if (this.#isShownAlready || value === this.#shown) return;
    if (isTooLong(value.length - this.#shown.length)) {
      this.#putBack();
      return;
    }
    const edits = typedEdits(this.#shown, value, selectionEnd).map(({ from, to, insert }) => ({
      from: positionInText(this.#source, from),
      to: positionInText(this.#source, to),
      insert: withLineEndsOf(this.#source, insert),
    }));
    this.#noteField();
    this.#whileShown(() => this.#text.edit(this.#overWaiting(edits)));
    if (this.#waiting) this.#source = applyEdits(this.#source, edits);
    else this.#onInputTaken();
  }

  #putBack(): void {
    this.#field.value = this.#shown;
    this.#field.setSelectionRange(this.#selection.start, this.#selection.end);
  }

  /** Edits of what is shown as edits of the shared text. An insertion that waits at the same place goes after. */
  #overWaiting(edits: TextEdit[]): TextEdit[] {
    if (!this.#waiting) return edits;
    const { mine, theirs } = rebase(toChanges(edits, this.#source.length), this.#waiting, true);
    this.#waiting = theirs;
    return toEdits(mine);
  }

  /** The text does not take half a surrogate pair; then the field must not show one either. */
  #onInputTaken(): void {
    this.#source = this.#text.value;
    const expected = asShown(this.#source);
    if (expected !== this.#shown) this.#replaceAll(expected);
  }

  #onChange(change: TextChange): void {
    if (this.#isShownAlready) return;
    const changes = toChanges(change.edits, this.#lengthBefore(change.edits));
    this.#waiting = this.#waiting ? this.#waiting.compose(changes) : changes;
    if (change.origin === 'remote') this.#showWhenDue();
    else this.#showOwn(endOfEdits(change.edits));
  }

  #lengthBefore(edits: readonly TextEdit[]): number {
    return this.#text.value.length - lengthAfter(0, edits);
  }

  /** An edit by a button, undo or redo: the caret goes to what changed. */
  #showOwn(end: number): void {
    this.#show();
    if (!this.#isFocused) return;
    const caret = positionInField(this.#source, end);
    this.#field.setSelectionRange(caret, caret);
    this.#noteField();
    scrollToPosition(this.#field, caret);
    this.#whileShown(() => offerNativeUndo(this.#field));
  }

  #showWhenDue(): void {
    if (this.#isComposing || !this.#waiting || this.#timer !== undefined) return;
    const dueIn = this.#shownAt + displayIntervalMs(this.#source.length) - performance.now();
    if (dueIn <= 0) this.#show();
    else this.#timer = setTimeout(() => this.#onDisplayTimer(), dueIn);
  }

  #onDisplayTimer(): void {
    this.#timer = undefined;
    this.#showWhenDue();
  }

  #show(): void {
    if (!this.#waiting) return;
    const edits = toEdits(this.#waiting);
    const selection = this.#readSelection();
    const shownEdits = edits.map(({ from, to, insert }) => ({
      from: positionInField(this.#source, from),
      to: positionInField(this.#source, to),
      insert: asShown(insert),
    }));
    this.#waiting = undefined;
    this.#source = this.#text.value;
    this.#shownAt = performance.now();
    changeField(this.#field, shownEdits);
    // An edit may split or join the two characters of a line end, which the field shows as one.
    const expected = asShown(this.#source);
    if (expected !== this.#field.value) this.#field.value = expected;
    this.#restoreSelection(selection, edits);
    this.#noteField();
  }

  #replaceAll(expected: string): void {
    const { selectionStart, selectionEnd } = this.#field;
    this.#field.value = expected;
    if (this.#isFocused) this.#field.setSelectionRange(selectionStart, selectionEnd);
    this.#noteField();
  }

  /** In the text, not in the field. */
  #readSelection(): Selected {
    const { selectionStart, selectionEnd, selectionDirection } = this.#field;
    return {
      start: positionInText(this.#source, selectionStart),
      end: positionInText(this.#source, selectionEnd),
      direction: selectionDirection,
    };
  }

  /** Only where the field has the focus: some browsers would give it the focus. */
  #restoreSelection({ start, end, direction }: Selected, edits: readonly TextEdit[]): void {
    if (!this.#isFocused) return;
    const newEnd = movedPosition(edits, end);
    const newStart = start === end ? newEnd : Math.min(newEnd, movedPosition(edits, start, 'after'));
    this.#field.setSelectionRange(
      positionInField(this.#source, newStart),
      positionInField(this.#source, newEnd),
      direction,
    );
  }

  #whileShown(action: () => void): void {
    this.#isShownAlready = true;
    try {
      action();
    } finally {
      this.#isShownAlready = false;
    }
  }

  #noteField(): void {
    this.#shown = this.#field.value;
    this.#selection = { start: this.#field.selectionStart, end: this.#field.selectionEnd };
  }

  get #isFocused(): boolean {
    return document.activeElement === this.#field;
  }
}

/** Says so where it is: a message of that size would end the connection. */
function isTooLong(length: number): boolean {
  const isIt = length > limits.contentMax;
  if (isIt) notify(t('tooLongToInsert', { size: size(limits.contentMax) }));
  return isIt;
}

/** In few small steps, which leave the rest of the field alone. What is in sight stays where it is. */
function changeField(field: HTMLTextAreaElement, edits: readonly TextEdit[]): void {
  const { scrollTop } = field;
  const top = firstVisiblePosition(field);
  const isAbove = ({ to }: TextEdit) => top > 0 && to <= top;
  applyToField(
    field,
    edits.filter((edit) => !isAbove(edit)),
  );
  field.scrollTop = scrollTop;
  const above = edits.filter(isAbove);
  if (above.length > 0) keepInSight(field, () => applyToField(field, above));
}

function applyToField(field: HTMLTextAreaElement, edits: readonly TextEdit[]): void {
  if (edits.length > maxSteps) field.value = applyEdits(field.value, edits);
  else for (const { from, to, insert } of edits.toReversed()) field.setRangeText(insert, from, to, 'preserve');
}
