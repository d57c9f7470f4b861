/** `poproom get`: prints the text of a room. */
import { takesOnlyCode } from '../arguments.ts';
import type { Input } from '../command.ts';
import { inJson } from '../output.ts';
import { printableText } from '../printable.ts';
import { inRoom } from '../visit.ts';

export async function get(input: Input): Promise<void> {
  takesOnlyCode('get', input);
  const text = await inRoom(input, (room) => room.read());
  if (input.isSet('json')) return console.log(inJson(text));
  // A pipe carries it unchanged; a screen would obey it, and put the prompt behind it.
  process.stdout.write(process.stdout.isTTY ? onScreen(text.content) : text.content);
}

function onScreen(text: string): string {
  const isWhole = text === '' || text.endsWith('\n');
  return printableText(text) + (isWhole ? '' : '\n');
}
