/** The width of a text in terminal columns: measures it, shortens a text and wraps a help text. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

let segmenter: Intl.Segmenter | undefined;

/** Created when it is first used, because that takes as long as loading a tenth of the server. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

export function textWidth(text: string): number {
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts a text that is too long, and adds an ellipsis. */
export function truncate(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let [kept, width] = ['', 0];
  for (const { segment } of segmentsOf(text)) {
    width += textWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** By two columns. */
export const indented = (text: string): string => text.replaceAll(/^/gm, '  ');

/** A right column that is narrower is hard to read, so it goes below the left one. */
const minRight = 28;

/**
 * Lines that begin with spaces are rows, with a left and a right column that two spaces separate. All others are
 * paragraphs. A word that is longer than the line, such as a URL, is not broken.
 */
export function fitWidth(text: string, columns: number): string {
  return blocksOf(text)
    .map(({ isRows, lines }) => (isRows ? fitRows(lines, columns) : wrap(lines.join(' '), columns, '')))
    .join('\n');
}

/** An empty line, and one that ends with a colon, is a block of its own. */
function blocksOf(text: string) {
  const blocks: { isRows: boolean; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const isRows = line.startsWith(' ');
    const last = blocks.at(-1);
    const continues =
      last?.isRows === isRows && line !== '' && last.lines[0] !== '' && !last.lines.at(-1)?.endsWith(':');
    if (continues) last.lines.push(line);
    else blocks.push({ isRows, lines: [line] });
  }
  return blocks;
}

function fitRows(lines: readonly string[], columns: number): string {
  if (lines.every((line) => textWidth(line) <= columns)) return lines.join('\n');
  const start = Math.max(...lines.map(rightStart));
  const layOut = columns - start < minRight ? stacked : sideBySide;
  return toRows(lines)
    .map((row) => layOut(row, columns, start))
    .join('\n');
}

type Row = { left: string; right: string };

const rowPattern = /^ {2}(\S.*?)(?: {2,}(\S.*))?$/;

function toRow(line: string): Row {
  const [, left = '', right = ''] = rowPattern.exec(line) ?? [];
  return left === '' ? { left, right: line.trim() } : { left, right };
}

/** A long left column has its right column on the next line. */
function toRows(lines: readonly string[]): Row[] {
  const rows: Row[] = [];
  for (const row of lines.map(toRow)) {
    const last = rows.at(-1);
    if (row.left === '' && last) last.right = [last.right, row.right].filter(Boolean).join(' ');
    else rows.push(row);
  }
  return rows;
}

function rightStart(line: string): number {
  const { left, right } = toRow(line);
  return left !== '' && right !== '' ? line.length - right.length : 0;
}

function stacked({ left, right }: Row, columns: number): string {
  const above = wrap(left, columns, '  ');
  return right === '' ? above : `${above}\n${wrap(right, columns, '      ')}`;
}

function sideBySide({ left, right }: Row, columns: number, start: number): string {
  if (right === '') return wrap(left, columns, '  ');
  const below = wrap(right, columns, ' '.repeat(start));
  if (left.length + 4 > start) return `${wrap(left, columns, '  ')}\n${below}`;
  return `  ${left}`.padEnd(start) + below.slice(start);
}

function wrap(text: string, columns: number, indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter(Boolean)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && textWidth(indent + longer) > columns) {
      lines.push(indent + line);
      line = word;
    } else line = longer;
  }
  return [...lines, line === '' ? '' : indent + line].join('\n');
}
