/** `poproom new`: creates a room. */
import type { CreatedRoom } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { print } from '../output.ts';
import { isPin, pinArgumentRefused } from '../pin-argument.ts';
import { printable } from '../printable.ts';
import { withServer } from '../server-context.ts';
import { isPartlyRead, isPiped, readInputText } from '../standard-input.ts';
import { UsageError } from '../usage-error.ts';
import { createWithPin, readLifetime, rememberCreated } from './create-room.ts';
import { invitation } from './invitation.ts';

export async function createRoom(input: Input): Promise<void> {
  const lifetime = readLifetime(input);
  const text = await readText(input);
  const room = await withServer(input, async (client, environment) => {
    const history = input.isSet('no-history') ? { history: false } : {};
    const title = input.value('name');
    const name = title === undefined ? {} : { name: title };
    const created = await createWithPin(input, client, environment, { ...lifetime, ...name, ...history });
    await writeText(created, text);
    rememberCreated(environment, client, created);
    return created;
  });
  const { code, link, expiresAt, hasPin, name } = room;
  const isTerminal = process.stdout.isTTY && !input.isSet('json');
  print(
    input,
    { roomId: code, link, expiresAt, hasPin, name },
    isTerminal ? await invitation(input, room) : printable(code),
  );
}

/** The text of the room: standard input with `-`, or if it is a pipe or a file that nothing else is reading. */
async function readText(input: Input): Promise<string> {
  const [argument, ...rest] = input.args;
  const extra = argument === '-' ? rest[0] : argument;
  if (extra !== undefined) throw new UsageError(explainExtra(extra));
  if (argument === '-' && input.isSet('no-input')) throw new UsageError('Use either - or --no-input.');
  const isText = argument === '-' || (!input.isSet('no-input') && isPiped() && !isPartlyRead());
  return isText ? readInputText() : '';
}

/** Deletes the room if its text cannot be stored, because its code was never printed. */
async function writeText(room: CreatedRoom, text: string): Promise<void> {
  if (text === '') return;
  try {
    await room.write(text);
  } catch (error) {
    await room.delete().catch(() => undefined);
    throw error;
  }
}

function explainExtra(argument: string): string {
  if (isPin(argument)) return pinArgumentRefused;
  return `"poproom new" takes no arguments, but got "${argument}"; pipe in the text of the room instead.`;
}
