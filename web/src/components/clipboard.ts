/** Clipboard access, with a fallback for plain HTTP, where browsers disable the Clipboard API. */

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

export const canPaste = (): boolean => typeof navigator.clipboard?.readText === 'function';

/** Undefined if the user or the browser denies access. */
export async function pasteText(): Promise<string | undefined> {
  return navigator.clipboard.readText().catch(() => undefined);
}

/** Browsers offer it in secure contexts only. */
export const canCopyImages = (): boolean =>
  typeof ClipboardItem === 'function' && typeof navigator.clipboard?.write === 'function';

/** Takes a promise, because Safari allows access only during the click. */
export function copyImage(png: Promise<Blob>): Promise<boolean> {
  return navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]).then(
    () => true,
    () => false,
  );
}

/** The legacy command, which works after any click. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  const focused = document.activeElement as HTMLElement | null;
  field.value = text;
  field.readOnly = true;
  field.className = 'visually-hidden';
  // Elements outside an open modal dialog are inert and cannot be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return done;
}
