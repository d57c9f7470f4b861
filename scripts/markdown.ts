/** The Markdown of the pages that are written by programs. */

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\``;
}

export function jsonFence(value: unknown): string {
  return fence('json', JSON.stringify(value, null, 2));
}

/** With its columns under each other, as a person would write it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, i) => Math.max(3, ...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) => line(widths.map((width, i) => (row[i] ?? '').padEnd(width))));
  return [lines[0], line(widths.map((width) => '-'.repeat(width))), ...lines.slice(1)].join('\n');
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** The fragment that GitHub gives to a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');
}

/** What is not there leaves no gap. */
export function paragraphs(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part).join('\n\n');
}
