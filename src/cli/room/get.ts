/** `poproom get`: prints the text of a room. */
import { takesOnlyCode } from '../arguments.ts';
import type { Input } from '../command.ts';
import { inRoom } from '../server-context.ts';
import { printContent } from './print-content.ts';

export async function get(input: Input): Promise<void> {
  takesOnlyCode('get', input);
  printContent(input, await inRoom(input, (room) => room.read()));
}
