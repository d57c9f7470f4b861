/** A textarea shows every line ending as "\n". The text may contain "\r\n", so positions in the two differ. */

export const asShown = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** Typed text, with the line endings of the shared text. */
export function withLineEndingsOf(text: string, typed: string): string {
  return typed.includes('\n') && /\r?\n/.exec(text)?.[0] === '\r\n' ? typed.replaceAll('\n', '\r\n') : typed;
}

export function positionInText(text: string, shown: number): number {
  let pairs = 0;
  for (let at = text.indexOf('\r\n'); at !== -1 && at - pairs < shown; at = text.indexOf('\r\n', at + 2)) pairs++;
  return shown + pairs;
}

export function positionInField(text: string, position: number): number {
  let pairs = 0;
  for (let at = text.indexOf('\r\n'); at !== -1 && at + 1 < position; at = text.indexOf('\r\n', at + 2)) pairs++;
  return position - pairs;
}
