/** `poproom new`: creates a room. */
import type { Client, CreatedRoom, NewRoom } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { formatDuration, readDuration } from '../duration.ts';
import type { Environment } from '../environment.ts';
import { print } from '../output.ts';
import { choosePin, pinFromEnvironment } from '../pin.ts';
import { isPin, pinArgumentRefused } from '../pin-argument.ts';
import { printable } from '../printable.ts';
import { withServer } from '../server-context.ts';
import { isPiped, readInputText } from '../standard-input.ts';
import { UsageError } from '../usage-error.ts';

export async function createRoom(input: Input): Promise<void> {
  const [extra] = input.args;
  if (extra !== undefined) throw new UsageError(explainExtra(extra));
  const expires = input.value('expires');
  const expiresIn = expires === undefined ? {} : { expiresIn: readDuration(expires) };
  const isEncrypted = input.isSet('encrypted');
  if (isEncrypted && input.isSet('pin')) throw new UsageError('An encrypted room has a key instead of a PIN.');
  const text = isPiped() ? await readInputText() : '';
  const room = await withServer(input, async (client, environment) => {
    const pin = input.isSet('pin') ? { pin: pinFromEnvironment(environment) ?? (await chooseNewPin()) } : {};
    const history = input.isSet('no-history') ? { history: false } : {};
    const title = input.value('name');
    const name = title === undefined ? {} : { name: title };
    const encrypted = isEncrypted && { encrypted: true };
    const created = await createWithText(client, { ...expiresIn, ...pin, ...name, ...history, ...encrypted }, text);
    if (isEncrypted) await keepKey(client, created, environment);
    return created;
  });
  const { code, key, link, expiresAt, hasPin, name } = room;
  print(
    input,
    { roomId: code, ...(key && { encrypted: true, key }), link, expiresAt, hasPin, name },
    process.stdout.isTTY ? await invitation(room) : printable(code),
  );
}

/** Deletes the room if its text cannot be stored, because its code was never printed. */
async function createWithText(client: Client, request: NewRoom, text: string): Promise<CreatedRoom> {
  const room = await client.createRoom(request);
  try {
    if (text !== '') await room.write(text);
    return room;
  } catch (error) {
    await room.delete().catch(() => undefined);
    throw error;
  }
}

/** So that the code alone works on this computer. */
async function keepKey({ url }: Client, room: CreatedRoom, environment: Environment): Promise<void> {
  const { openRoomKeys } = await import('../room-keys.ts');
  const { code, key = '', seen } = room;
  openRoomKeys(environment).keep(url, code, { key, seen });
}

function explainExtra(argument: string): string {
  if (isPin(argument)) return pinArgumentRefused;
  return `"poproom new" takes no arguments, but got "${argument}"; pipe in the text of the room instead.`;
}

const chooseNewPin = () =>
  choosePin('PIN for the new room (four digits): ', 'The two PINs differ; no room was created.');

async function invitation({ code, key, link, expiresAt, hasPin, name }: CreatedRoom): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  const left = formatDuration(Date.parse(expiresAt) - Date.now());
  const rows = [
    printable(code),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(name === undefined ? [] : [printable(name)]),
    link,
    `expires in ${left}${hasPin ? ', protected by a PIN' : ''}${key ? ', encrypted' : ''}`,
  ];
  return `\n${indented(rows.join('\n'))}\n\n${indented(renderUnicodeCompact(link, { border: 1 }))}\n`;
}

const indented = (text: string) => text.replaceAll(/^/gm, '  ');
