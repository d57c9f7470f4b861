/** `poproom get`: prints the text of a room. */
import { takesOnlyCode } from '../arguments.ts';
import type { Input } from '../command.ts';
import { withRoom } from '../server-context.ts';
import { printContent } from './print-content.ts';

export async function get(input: Input): Promise<void> {
  takesOnlyCode('get', input);
  printContent(input, await withRoom(input, (room) => room.read()));
}
