/** A field shows every line end as "\n". In the text some may be "\r\n", so positions in the two differ. */

export const asShown = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** What was typed into the field, with the line ends that the text has. */
export function withLineEndsOf(text: string, typed: string): string {
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
