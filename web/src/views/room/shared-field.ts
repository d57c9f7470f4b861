/** Binds a textarea to the shared text. Typing becomes edits; remote edits keep the caret and the scroll position. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SharedText, TextChange } from '../../../../src/client/text/shared-text.ts';
import type { TextEdit } from '../../../../src/protocol/types.ts';
import { type Changes, rebase, toChanges, toEdits } from '../../../../src/text/changes.ts';
import { applyEdits, lengthAfter } from '../../../../src/text/edits.ts';
import { notify } from '../../components/notices.tsx';
import { size, t } from '../../i18n/strings.ts';
import { limits } from '../../page-settings.ts';
import type { RoomModel, TextModel } from '../../room/room-phase.ts';
import {
  asShown,
  endOfEdits,
  movedPosition,
  positionInField,
  positionInText,
  typedEdits,
  withLineEndingsOf,
} from './field-edits.ts';

/** For the views around the field. */
export interface TextViewProps {
  room: RoomModel;
  text: TextModel;
  field: RefObject<HTMLTextAreaElement | null>;
}

export type Insert = (text: string) => void;

/** Returns a function that replaces the selection, or appends a line if the user has not placed the caret yet. */
export function useSharedField(field: TextViewProps['field'], text: SharedText): Insert {
  const bound = useRef<ReturnType<typeof bindField>>(undefined);
  // Bind before the next key event: text typed into an unbound field would be lost.
  useLayoutEffect(() => {
    if (!field.current) return undefined;
    const binding = bindField(field.current, text);
    bound.current = binding;
    return binding.release;
  }, [text]);
  return (inserted) => bound.current?.insert(inserted);
}

/** Calls `act` at first and after changes of the text, at most once in the interval. */
export function useTextChanges(text: SharedText, intervalMs: number, act: () => void): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = () => {
      timer = undefined;
      act();
    };
    const runSoon = () => {
      timer ??= setTimeout(run, intervalMs);
    };
    runSoon();
    const stop = text.on('change', runSoon);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [text]);
}

/** The browser needs up to half a second to lay out a large text, so remote edits of it are shown in batches. */
const displayIntervalMs = (length: number): number => (length < 100_000 ? 0 : length / 1_000);

/** Input types that are an undo step of their own. */
const isOwnUndoStep = /^(insertFrom(Paste|Drop|Yank)|deleteBy(Cut|Drag)|insertReplacementText)/;

function bindField(field: HTMLTextAreaElement, text: SharedText) {
  /** The text that the field shows: the shared text without the pending changes. */
  let source = text.value;
  /** The same text with the line endings of the field. */
  let shown = '';
  /** Changes that are not shown yet, because of an IME composition or because a large text was laid out recently. */
  let pending: Changes | undefined;
  let isComposing = false;
  /** Not while the field has the focus only because the page has put it there. */
  let isCaretPlaced = false;
  /** The field already shows the current change, so it must not be applied to it again. */
  let isShownAlready = false;
  let selection = { start: 0, end: 0 };
  let shownAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new AbortController();
  const isFocused = () => document.activeElement === field;

  field.value = asShown(source);
  noteField();
  end.signal.addEventListener('abort', text.on('change', onChange));
  const on = <K extends keyof HTMLElementEventMap>(type: K, listen: (event: HTMLElementEventMap[K]) => void) =>
    field.addEventListener(type, listen, end);
  const onCaretPlaced = () => (isCaretPlaced = true);
  for (const type of ['pointerdown', 'keydown', 'input'] as const) on(type, onCaretPlaced);
  on('keyup', ({ key }) => key === 'Tab' && onCaretPlaced());
  on('keydown', onCommand);
  on('beforeinput', (event) => {
    if (isOwnUndoStep.test(event.inputType)) text.endGroup();
    onCommand(event);
  });
  on('input', (event) => {
    takeInput();
    if (isOwnUndoStep.test((event as InputEvent).inputType)) text.endGroup();
  });
  on('compositionstart', () => (isComposing = true));
  on('compositionend', () => {
    isComposing = false;
    takeInput();
    // Some browsers send the last input of a composition after its end.
    setTimeout(showWhenDue, 0);
  });
  document.addEventListener('selectionchange', onSelectionChange, end);

  function release(): void {
    clearTimeout(timer);
    end.abort();
  }

  function insert(inserted: string): void {
    if (isTooLong(inserted.length)) return;
    takeInput();
    show();
    field.focus();
    if (!isCaretPlaced) moveCaretToEnd();
    const { start: from, end: to } = readSelection();
    const separator = isCaretPlaced || from === 0 || shown.endsWith('\n') ? '' : '\n';
    text.endGroup();
    text.edit([{ from, to, insert: withLineEndingsOf(source, asShown(separator + inserted)) }]);
    text.endGroup();
    isCaretPlaced = true;
  }

  function moveCaretToEnd(): void {
    const { length } = field.value;
    field.setSelectionRange(length, length);
  }

  function onCommand(event: KeyboardEvent | InputEvent): void {
    const command = historyCommandOf(event);
    if (!command) return;
    event.preventDefault();
    text[command]();
  }

  /** Moving the caret starts a new undo step. */
  function onSelectionChange(): void {
    const { selectionStart: start, selectionEnd: end } = field;
    if (isComposing || (start === selection.start && end === selection.end)) return;
    selection = { start, end };
    isCaretPlaced = true;
    text.endGroup();
  }

  function takeInput(): void {
    const { value, selectionEnd } = field;
    if (isShownAlready || value === shown) return;
    if (isTooLong(value.length - shown.length)) {
      field.value = shown;
      return void field.setSelectionRange(selection.start, selection.end);
    }
    const edits = typedEdits(shown, value, selectionEnd).map(({ from, to, insert }) => ({
      from: positionInText(source, from),
      to: positionInText(source, to),
      insert: withLineEndingsOf(source, insert),
    }));
    noteField();
    whileShown(() => text.edit(rebaseOverPending(edits)));
    if (pending) source = applyEdits(source, edits);
    else onInputTaken();
  }

  /** Turns edits of the shown text into edits of the shared text. A pending insertion at the same place goes after. */
  function rebaseOverPending(edits: TextEdit[]): TextEdit[] {
    if (!pending) return edits;
    const { mine, theirs } = rebase(toChanges(edits, source.length), pending, true);
    pending = theirs;
    return toEdits(mine);
  }

  /** The shared text rejects half a surrogate pair, so the field must not show one either. */
  function onInputTaken(): void {
    source = text.value;
    const expected = asShown(source);
    if (expected === shown) return;
    const { selectionStart, selectionEnd } = field;
    field.value = expected;
    if (isFocused()) field.setSelectionRange(selectionStart, selectionEnd);
    noteField();
  }

  function onChange(change: TextChange): void {
    if (isShownAlready) return;
    const lengthBefore = text.value.length - lengthAfter(0, change.edits);
    const changes = toChanges(change.edits, lengthBefore);
    pending = pending ? pending.compose(changes) : changes;
    if (change.origin === 'remote') showWhenDue();
    else showOwn(endOfEdits(change.edits));
  }

  /** After an edit by a button, undo or redo, the caret moves to the change. */
  function showOwn(end: number): void {
    show();
    if (!isFocused()) return;
    const caret = positionInField(source, end);
    field.setSelectionRange(caret, caret);
    noteField();
    scrollToPosition(field, caret);
    whileShown(offerNativeUndo);
  }

  function showWhenDue(): void {
    if (isComposing || !pending || timer !== undefined) return;
    const dueIn = shownAt + displayIntervalMs(source.length) - performance.now();
    const onDue = () => {
      timer = undefined;
      showWhenDue();
    };
    if (dueIn <= 0) show();
    else timer = setTimeout(onDue, dueIn);
  }

  function show(): void {
    if (!pending) return;
    const edits = toEdits(pending);
    const selection = readSelection();
    const shownEdits = edits.map(({ from, to, insert }) => ({
      from: positionInField(source, from),
      to: positionInField(source, to),
      insert: asShown(insert),
    }));
    pending = undefined;
    source = text.value;
    shownAt = performance.now();
    changeField(field, shownEdits);
    // An edit may split or join the two characters of a line ending, which the field shows as one.
    const expected = asShown(source);
    if (expected !== field.value) field.value = expected;
    restoreSelection(selection, edits);
    noteField();
  }

  /** Positions in the text, not in the field. */
  function readSelection() {
    const { selectionStart, selectionEnd, selectionDirection: direction } = field;
    return { start: positionInText(source, selectionStart), end: positionInText(source, selectionEnd), direction };
  }

  /** Only if the field has the focus: setting a selection moves the focus in some browsers. */
  function restoreSelection(selected: ReturnType<typeof readSelection>, edits: readonly TextEdit[]): void {
    const { start, end, direction } = selected;
    if (!isFocused()) return;
    if (!isCaretPlaced) return void moveCaretToEnd();
    const newEnd = movedPosition(edits, end);
    const newStart = start === end ? newEnd : Math.min(newEnd, movedPosition(edits, start, 'after'));
    const [shownStart = 0, shownEnd = 0] = [newStart, newEnd].map((at) => positionInField(source, at));
    field.setSelectionRange(shownStart, shownEnd, direction);
  }

  function whileShown(action: () => void): void {
    isShownAlready = true;
    try {
      action();
    } finally {
      isShownAlready = false;
    }
  }

  function noteField(): void {
    shown = field.value;
    selection = { start: field.selectionStart, end: field.selectionEnd };
  }

  return { insert, release };
}

/** Recognizes undo and redo from keys, the context menu, or a gesture of the phone. */
function historyCommandOf(event: KeyboardEvent | InputEvent): 'undo' | 'redo' | undefined {
  if (!(event instanceof KeyboardEvent)) return historyInputs[event.inputType];
  const { key, code, ctrlKey, metaKey, altKey, shiftKey, isComposing } = event;
  if (isComposing || altKey || ctrlKey === metaKey) return undefined;
  // The letter in the current keyboard layout, or the key's position in layouts without Latin letters.
  const letter = (/^[a-z]$/i.test(key) ? key : code.replace(/^Key/, '')).toLowerCase();
  if (letter === 'z') return shiftKey ? 'redo' : 'undo';
  return letter === 'y' && ctrlKey && !shiftKey ? 'redo' : undefined;
}

const historyInputs: Partial<Record<string, 'undo' | 'redo'>> = { historyUndo: 'undo', historyRedo: 'redo' };

/**
 * Enables the browser's own Undo command, which then asks the page. Without recorded input the command is disabled,
 * such as after Clear in a text from another device. So insert a space at the caret and delete it again.
 */
function offerNativeUndo(): void {
  if (document.queryCommandEnabled('undo')) return;
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
  const [above, rest] = [edits.filter(isAbove), edits.filter((edit) => !isAbove(edit))];
  applyToField(field, rest);
  field.scrollTop = scrollTop;
  if (above.length === 0) return;
  // Text above the visible part must not move it.
  const { scrollTop: kept, scrollHeight } = field;
  applyToField(field, above);
  field.scrollTop = kept + field.scrollHeight - scrollHeight;
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
