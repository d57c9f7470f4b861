/** Undo and redo as a person asks for them: by keys, by the context menu, by a gesture of the phone. */

export type HistoryCommand = 'undo' | 'redo';

export function historyCommandOf(event: KeyboardEvent | InputEvent): HistoryCommand | undefined {
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

/** What the key means in this layout; in one without Latin letters, where it is on the keyboard. */
function letterOf({ key, code }: KeyboardEvent): string {
  return (/^[a-z]$/i.test(key) ? key : code.replace(/^Key/, '')).toLowerCase();
}

/**
 * Lets the browser's own Undo ask the page. It does not while the browser has recorded nothing to undo, such as after
 * Clear in a text that came from elsewhere. So it records a space that comes and goes at the caret.
 */
export function offerNativeUndo(field: HTMLTextAreaElement): void {
  if (document.activeElement !== field || document.queryCommandEnabled('undo')) return;
  if (document.execCommand('insertText', false, ' ')) document.execCommand('delete');
}
