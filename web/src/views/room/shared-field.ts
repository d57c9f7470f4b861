/** Binds a textarea to the shared text. Typing becomes edits; remote edits keep the caret and the scroll position. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SharedText, TextChange } from '../../../../src/client/text/shared-text.ts';
import type { TextEdit } from '../../../../src/protocol/types.ts';
import { type Changes, rebase, toChanges, toEdits } from '../../../../src/text/changes.ts';
import { applyEdits, lengthAfter } from '../../../../src/text/edits.ts';
import { notify } from '../../components/notices.tsx';
import { size } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import { limits } from '../../page-settings.ts';
import {
  asShown,
  endOfEdits,
  movedPosition,
  positionInField,
  positionInText,
  typedEdits,
  withLineEndingsOf,
} from './field-edits.ts';

export interface SharedField {
  /** Replaces the selection. If the user has not placed the caret yet, appends the text on a line of its own. */
  insert(text: string): void;
  undo(): void;
  redo(): void;
}

export function useSharedField(field: { current: HTMLTextAreaElement | null }, text: SharedText) {
  const bound = useRef<SharedField>(undefined);
  // Bind before the next key event: text typed into an unbound field would be lost.
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

/** The browser needs up to half a second to lay out a large text, so remote edits of it are shown in batches. */
const displayIntervalMs = (length: number): number => (length < 100_000 ? 0 : length / 1_000);

/** Input types that are an undo step of their own. */
const isOwnUndoStep = /^(insertFrom(Paste|Drop|Yank)|deleteBy(Cut|Drag)|insertReplacementText)/;

class FieldBinding implements SharedField {
  readonly #field: HTMLTextAreaElement;
  readonly #text: SharedText;
  /** The text that the field shows: the shared text without the pending changes. */
  #source: string;
  /** The same text with the line endings of the field. */
  #shown = '';
  /** Changes that are not shown yet, because of an IME composition or because a large text was laid out recently. */
  #pending: Changes | undefined;
  #isComposing = false;
  /** Not while the field has the focus only because the page has put it there. */
  #isCaretPlaced = false;
  /** The field already shows the current change, so it must not be applied to it again. */
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
    if (!this.#isCaretPlaced) this.#moveCaretToEnd();
    const { start: from, end: to } = this.#readSelection();
    const separator = this.#isCaretPlaced || from === 0 || this.#shown.endsWith('\n') ? '' : '\n';
    this.#text.endGroup();
    this.#text.edit([{ from, to, insert: withLineEndingsOf(this.#source, asShown(separator + inserted)) }]);
    this.#text.endGroup();
    this.#isCaretPlaced = true;
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
    const onCaretPlaced = () => {
      this.#isCaretPlaced = true;
    };
    for (const type of ['pointerdown', 'keydown', 'input'] as const) on(type, onCaretPlaced);
    on('keyup', ({ key }) => key === 'Tab' && onCaretPlaced());
    on('keydown', (event) => this.#onCommand(event));
    on('beforeinput', (event) => {
      if (isOwnUndoStep.test(event.inputType)) this.#text.endGroup();
      this.#onCommand(event);
    });
    on('input', (event) => {
      this.#takeInput();
      if (isOwnUndoStep.test((event as InputEvent).inputType)) this.#text.endGroup();
    });
    on('compositionstart', () => {
      this.#isComposing = true;
    });
    on('compositionend', () => this.#onCompositionEnd());
    document.addEventListener('selectionchange', () => this.#onSelectionChange(), { signal });
  }

  #moveCaretToEnd(): void {
    const { length } = this.#field.value;
    this.#field.setSelectionRange(length, length);
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

  /** Moving the caret starts a new undo step. */
  #onSelectionChange(): void {
    const { selectionStart: start, selectionEnd: end } = this.#field;
    if (this.#isComposing || (start === this.#selection.start && end === this.#selection.end)) return;
    this.#selection = { start, end };
    this.#isCaretPlaced = true;
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
      insert: withLineEndingsOf(this.#source, insert),
    }));
    this.#noteField();
    this.#whileShown(() => this.#text.edit(this.#rebaseOverPending(edits)));
    if (this.#pending) this.#source = applyEdits(this.#source, edits);
    else this.#onInputTaken();
  }

  #putBack(): void {
    this.#field.value = this.#shown;
    this.#field.setSelectionRange(this.#selection.start, this.#selection.end);
  }

  /** Turns edits of the shown text into edits of the shared text. A pending insertion at the same place goes after. */
  #rebaseOverPending(edits: TextEdit[]): TextEdit[] {
    if (!this.#pending) return edits;
    const { mine, theirs } = rebase(toChanges(edits, this.#source.length), this.#pending, true);
    this.#pending = theirs;
    return toEdits(mine);
  }

  /** The shared text rejects half a surrogate pair, so the field must not show one either. */
  #onInputTaken(): void {
    this.#source = this.#text.value;
    const expected = asShown(this.#source);
    if (expected !== this.#shown) this.#replaceAll(expected);
  }

  #onChange(change: TextChange): void {
    if (this.#isShownAlready) return;
    const changes = toChanges(change.edits, this.#lengthBefore(change.edits));
    this.#pending = this.#pending ? this.#pending.compose(changes) : changes;
    if (change.origin === 'remote') this.#showWhenDue();
    else this.#showOwn(endOfEdits(change.edits));
  }

  #lengthBefore(edits: readonly TextEdit[]): number {
    return this.#text.value.length - lengthAfter(0, edits);
  }

  /** After an edit by a button, undo or redo, the caret moves to the change. */
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
    if (this.#isComposing || !this.#pending || this.#timer !== undefined) return;
    const dueIn = this.#shownAt + displayIntervalMs(this.#source.length) - performance.now();
    if (dueIn <= 0) this.#show();
    else this.#timer = setTimeout(() => this.#onDisplayTimer(), dueIn);
  }

  #onDisplayTimer(): void {
    this.#timer = undefined;
    this.#showWhenDue();
  }

  #show(): void {
    if (!this.#pending) return;
    const edits = toEdits(this.#pending);
    const selection = this.#readSelection();
    const shownEdits = edits.map(({ from, to, insert }) => ({
      from: positionInField(this.#source, from),
      to: positionInField(this.#source, to),
      insert: asShown(insert),
    }));
    this.#pending = undefined;
    this.#source = this.#text.value;
    this.#shownAt = performance.now();
    changeField(this.#field, shownEdits);
    // An edit may split or join the two characters of a line ending, which the field shows as one.
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

  /** Positions in the text, not in the field. */
  #readSelection(): Selected {
    const { selectionStart, selectionEnd, selectionDirection } = this.#field;
    return {
      start: positionInText(this.#source, selectionStart),
      end: positionInText(this.#source, selectionEnd),
      direction: selectionDirection,
    };
  }

  /** Only if the field has the focus: setting a selection moves the focus in some browsers. */
  #restoreSelection({ start, end, direction }: Selected, edits: readonly TextEdit[]): void {
    if (!this.#isFocused) return;
    if (!this.#isCaretPlaced) {
      this.#moveCaretToEnd();
      return;
    }
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

type HistoryCommand = 'undo' | 'redo';

/** Recognizes undo and redo from keys, the context menu, or a gesture of the phone. */
function historyCommandOf(event: KeyboardEvent | InputEvent): HistoryCommand | undefined {
  return event instanceof KeyboardEvent ? commandOfKey(event) : commandOfInput(event.inputType);
}

function commandOfInput(inputType: string): HistoryCommand | undefined {
  if (inputType === 'historyUndo') return 'undo';
  return inputType === 'historyRedo' ? 'redo' : undefined;
}

function commandOfKey(event: KeyboardEvent): HistoryCommand | undefined {
  const { ctrlKey, metaKey, altKey, shiftKey, isComposing } = event;
  if (isComposing || altKey || ctrlKey === metaKey) return undefined;
  const letter = letterOf(event);
  if (letter === 'z') return shiftKey ? 'redo' : 'undo';
  return letter === 'y' && ctrlKey && !shiftKey ? 'redo' : undefined;
}

/** The letter in the current keyboard layout, or the key's position in layouts without Latin letters. */
function letterOf({ key, code }: KeyboardEvent): string {
  return (/^[a-z]$/i.test(key) ? key : code.replace(/^Key/, '')).toLowerCase();
}

/**
 * Enables the browser's own Undo command, which then asks the page. Without recorded input the command is disabled,
 * such as after Clear in a text from another device. So insert a space at the caret and delete it again.
 */
function offerNativeUndo(field: HTMLTextAreaElement): void {
  if (document.activeElement !== field || document.queryCommandEnabled('undo')) return;
  if (document.execCommand('insertText', false, ' ')) document.execCommand('delete');
}

/** Notifies the user if so. The server would close the connection on a message of this size. */
function isTooLong(length: number): boolean {
  const isOver = length > limits.contentMax;
  if (isOver) notify(t('insertTooLong', { size: size(limits.contentMax) }));
  return isOver;
}

/** Each step makes the browser rebuild the whole text. Beyond this number, the text is replaced once. */
const maxSteps = 20;

/** Applies edits in small steps, which keep the rest of the field and the scroll position. */
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
  if (above.length > 0) keepScrollPosition(field, () => applyToField(field, above));
}

/** Scrolls to a position that is not visible. Browsers do this for typing, but not for scripts. */
function scrollToPosition(field: HTMLTextAreaElement, position: number): void {
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
