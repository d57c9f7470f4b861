/** The clipboard, also where the browser keeps its API to itself: pages over plain HTTP on a LAN. */

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

export const canPaste = (): boolean => typeof navigator.clipboard?.readText === 'function';

/** Undefined when the person or the browser says no. */
export async function pasteText(): Promise<string | undefined> {
  return navigator.clipboard.readText().catch(() => undefined);
}

/** The old way, which works wherever a person has just clicked. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  const focused = document.activeElement as HTMLElement | null;
  field.value = text;
  field.readOnly = true;
  field.className = 'out-of-sight';
  // A modal dialog makes everything outside of it inert.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return done;
}
