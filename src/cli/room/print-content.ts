/** Prints a text: unchanged to a pipe, without control characters on a terminal, or as JSON. */
import type { Input } from '../command.ts';
import { formatJson } from '../output.ts';
import { printableText } from '../printable.ts';

export function printContent(input: Input, text: { content: string }): void {
  if (input.isSet('json')) console.log(formatJson(text));
  else process.stdout.write(process.stdout.isTTY ? toPrintable(text.content) : text.content);
}

/** Ends with a line break, so that the shell prompt starts on a new line. */
function toPrintable(content: string): string {
  return printableText(content) + (content === '' || content.endsWith('\n') ? '' : '\n');
}
