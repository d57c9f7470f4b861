/** Text of others, such as the name of a file, without what a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, '\u{FFFD}');
}

/** The same for a text of several lines, which keeps its lines, its tabs and its composed emoji. */
export function printableText(text: string): string {
  return text.replaceAll(/\r(?!\n)|[^\P{Cc}\r\n\t]/gu, '\u{FFFD}');
}
