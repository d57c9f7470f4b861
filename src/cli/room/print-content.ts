/** Prints a text: to a pipe byte for byte, on a terminal without what it would obey, and as JSON for programs. */
import type { Input } from '../command.ts';
import { inJson } from '../output.ts';
import { printableText } from '../printable.ts';

export function printContent(input: Input, text: { content: string }): void {
  if (input.isSet('json')) console.log(inJson(text));
  else process.stdout.write(process.stdout.isTTY ? onScreen(text.content) : text.content);
}

/** Ends with a line break, so that the prompt is not beside the text. */
function onScreen(content: string): string {
  return printableText(content) + (content === '' || content.endsWith('\n') ? '' : '\n');
}
