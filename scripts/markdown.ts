/** Writes Markdown, and reads the Markdown that it wrote. */

export interface Section {
  title: string;
  body: string;
}

/** Splits a text at its second-level headings. */
export function sections(markdown: string): { lead: string; rest: Section[] } {
  const [lead = '', ...rest] = markdown.split(/^## /m);
  return {
    lead: lead.trim(),
    rest: rest.map((text) => {
      const [title = '', ...lines] = text.split('\n');
      return { title, body: lines.join('\n') };
    }),
  };
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\``;
}

export function jsonFence(value: unknown): string {
  return fence('json', JSON.stringify(value, null, 2));
}

/** With aligned columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, i) => Math.max(3, ...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) => line(widths.map((width, i) => (row[i] ?? '').padEnd(width))));
  return [lines[0], line(widths.map((width) => '-'.repeat(width))), ...lines.slice(1)].join('\n');
}

/** Aligns the columns of all tables again, after their cells were changed. */
export function alignTables(markdown: string): string {
  return markdown.replace(/^(?:\| .* \|\n)+/gm, (text) => {
    const [head = [], , ...rows] = tableCells(text);
    return `${table(head, rows)}\n`;
  });
}

/** The cells of each line of a table, including the line below the head. */
export function tableCells(text: string): string[][] {
  const lines = text.trim().split('\n');
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** The fragment that GitHub gives to a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');
}

/** Leaves out parts that are undefined or empty. */
export function paragraphs(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part).join('\n\n');
}
