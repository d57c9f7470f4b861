/** Recognizes undo and redo from keys, the context menu, or a gesture of the phone. */

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

/** The letter in the current keyboard layout, or the key's position in layouts without Latin letters. */
function letterOf({ key, code }: KeyboardEvent): string {
  return (/^[a-z]$/i.test(key) ? key : code.replace(/^Key/, '')).toLowerCase();
}

/**
 * Enables the browser's own Undo command, which then asks the page. Without recorded input the command is disabled,
 * such as after Clear in a text from another device. So insert a space at the caret and delete it again.
 */
export function offerNativeUndo(field: HTMLTextAreaElement): void {
  if (document.activeElement !== field || document.queryCommandEnabled('undo')) return;
  if (document.execCommand('insertText', false, ' ')) document.execCommand('delete');
}
