/** `poproom new`: creates a room. */
import type { Client, CreatedRoom } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { withLifetimeErrors } from '../duration.ts';
import type { Environment } from '../environment.ts';
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
  const isEncrypted = input.isSet('encrypted');
  if (isEncrypted && input.isSet('pin')) throw new UsageError('An encrypted room has a key instead of a PIN.');
  const text = await readText(input);
  const room = await withServer(input, async (client, environment) => {
    const history = input.isSet('no-history') ? { history: false } : {};
    const title = input.value('name');
    const name = title === undefined ? {} : { name: title };
    const options = { ...lifetime, ...name, ...history };
    const created = isEncrypted
      ? await withLifetimeErrors(() => client.createRoom({ ...options, encrypted: true }))
      : await createWithPin(input, client, environment, options);
    await writeText(created, text);
    if (isEncrypted) await keepKey(client, created, environment);
    rememberCreated(environment, client, created);
    return created;
  });
  const { code, key, link, expiresAt, hasPin, name } = room;
  const isTerminal = process.stdout.isTTY && !input.isSet('json');
  print(
    input,
    { roomId: code, ...(key && { encrypted: true, key }), link, expiresAt, hasPin, name },
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

/** So that the code alone works on this computer. */
async function keepKey({ url }: Client, room: CreatedRoom, environment: Environment): Promise<void> {
  const { openEncryptedRooms } = await import('../encrypted-rooms.ts');
  const { code, key, salt, seen, expiresAt } = room;
  openEncryptedRooms(environment).remember(url, code, { key, salt, seen, expiresAt });
}

function explainExtra(argument: string): string {
  if (isPin(argument)) return pinArgumentRefused;
  return `"poproom new" takes no arguments, but got "${argument}"; pipe in the text of the room instead.`;
}
