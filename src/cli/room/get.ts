/** `poproom get`: prints the text of a room. */
import { assertOnlyCode } from '../arguments.ts';
import type { Input } from '../command.ts';
import { withRoom } from '../server-context.ts';
import { printContent } from './print-content.ts';

export async function get(input: Input): Promise<void> {
  assertOnlyCode('get', input);
  printContent(input, await withRoom(input, (room) => room.read()));
}
