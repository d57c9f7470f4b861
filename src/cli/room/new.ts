/** `poproom new`: creates a room. */
import type { Client, CreatedRoom, CreateRoomRequest, Room } from '../../client/index.ts';
import { type Input, isPin, pinArgumentRefused } from '../command.ts';
import { formatExpiry, readDuration, withLifetimeErrors } from '../duration.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { openEncryptedRooms, rememberRoom } from '../known-rooms.ts';
import { print, printable } from '../output.ts';
import { choosePin, confirmByDefault, isPartlyRead, isPiped, pinFromEnvironment, readInputText } from '../prompt.ts';
import { type SharedLink, toLanLink } from '../server-choice.ts';
import { withServer } from '../server-context.ts';
import { fitWidth, indented } from '../text-width.ts';

export async function createRoom(input: Input): Promise<void> {
  const lifetime = readLifetime(input);
  const isEncrypted = input.isSet('encrypted');
  if (isEncrypted && input.isSet('pin')) throw new UsageError('An encrypted room has a key instead of a PIN.');
  const text = await readText(input);
  const room = await withServer(input, async (client, environment) => {
    const name = input.value('name');
    const options = {
      ...lifetime,
      ...(input.isSet('extend') && { extend: true }),
      ...(name !== undefined && { name }),
      ...(input.isSet('no-history') && { history: false }),
    };
    const created = isEncrypted
      ? await withLifetimeErrors(() => client.createRoom({ ...options, encrypted: true }))
      : await createWithPin(input, client, environment, options);
    if (text !== '') await writeFirst(created, text);
    if (isEncrypted) keepKey(client, created, environment);
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
  if (extra !== undefined && isPin(extra)) throw new UsageError(pinArgumentRefused);
  if (extra !== undefined)
    throw new UsageError(`"poproom new" takes no arguments, but got "${extra}"; pipe in the text of the room instead.`);
  if (argument === '-' && input.isSet('no-input')) throw new UsageError('Use either - or --no-input.');
  const isText = argument === '-' || (!input.isSet('no-input') && isPiped() && !isPartlyRead());
  return isText ? readInputText() : '';
}

/** Deletes the room if its text cannot be stored, because its code was never printed. */
export async function writeFirst(room: Room, text: string, options: { signal?: AbortSignal } = {}): Promise<void> {
  await room.write(text, options).catch((error) => deleteUnused(room, error));
}

/** For a room whose code nobody has seen. */
export async function deleteUnused(room: Room, error: unknown): Promise<never> {
  await room.delete().catch(() => undefined);
  throw error;
}

/** So that the code alone works on this computer. */
export function keepKey({ url }: Client, room: CreatedRoom, environment: Environment): void {
  const { code, key, salt, seen, expiresAt } = room;
  openEncryptedRooms(environment).remember(url, code, { key, salt, seen, expiresAt });
}

/** Reads `--expires` before anything else happens. */
export function readLifetime(input: Input): Pick<CreateRoomRequest, 'expiresIn'> {
  const expires = input.value('expires');
  if (input.isSet('pin') && input.isSet('no-pin')) throw new UsageError('Use either --pin or --no-pin.');
  return expires === undefined ? {} : { expiresIn: readDuration(expires) };
}

/** Sends the request with the PIN that the user chooses. */
export async function createWithPin(
  input: Input,
  client: Client,
  environment: Environment,
  request: CreateRoomRequest,
) {
  const pin = await newRoomPin(input, environment);
  return withLifetimeErrors(() => client.createRoom({ ...request, ...(pin !== undefined && { pin }) }));
}

export function rememberCreated(environment: Environment, { url }: Client, room: CreatedRoom): void {
  const { code, name, expiresAt } = room;
  rememberRoom(environment, { url, code }, { expiresAt, ...(name !== undefined && { name }) });
}

/** `POPROOM_PIN` alone may be meant for another room, so it does not protect a new one unasked. */
async function newRoomPin(input: Input, environment: Environment): Promise<string | undefined> {
  if (input.isSet('no-pin')) return undefined;
  const fromEnvironment = pinFromEnvironment(environment);
  if (input.isSet('pin'))
    return (
      fromEnvironment ?? choosePin('PIN for the new room (four digits): ', 'The two PINs differ; no room was created.')
    );
  if (fromEnvironment === undefined) return undefined;
  const isTerminal = process.stdout.isTTY && process.stderr.isTTY;
  const isWanted = isTerminal ? await confirmByDefault('POPROOM_PIN is set. Protect the new room with it?') : undefined;
  if (isWanted === undefined) console.error(pinNotUsed);
  return isWanted ? fromEnvironment : undefined;
}

const pinNotUsed =
  'POPROOM_PIN is set, but the new room has no PIN: add --pin to protect it, or --no-pin to hide this message.';

/** The invitation to a new room on a terminal: its code, its link and a QR code. */
export async function invitation(input: Input, room: CreatedRoom): Promise<string> {
  const { code, key, name, expiresAt, hasPin } = room;
  const rows = (link: string) => [
    printable(code),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(name === undefined ? [] : [printable(name)]),
    link,
    `${formatExpiry(expiresAt)}${hasPin ? ', protected by a PIN' : ''}${key === undefined ? '' : ', encrypted'}`,
  ];
  return withQrCode(input, room.link, rows);
}

/** Rows about a link, with its QR code below. The link may get the address of this machine in its network. */
export async function withQrCode(input: Input, url: string, rowsWith: (link: string) => string[]): Promise<string> {
  const columns = process.stdout.columns || 80;
  const isKept = input.isSet('no-lan') || !readEnvironment().usesLanLinks;
  const { link, note }: SharedLink = isKept ? { link: url } : await toLanLink(url);
  const notes = note === undefined ? [] : [fitWidth(note, columns - 2)];
  const parts = [rowsWith(link).join('\n'), ...notes, await qrCode(link, columns - 2)];
  return `\n${parts.map(indented).join('\n\n')}\n`;
}

/** A QR code whose lines are wrapped cannot be scanned. */
async function qrCode(link: string, columns: number): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  const drawn = renderUnicodeCompact(link, { border: 1 });
  const width = drawn.indexOf('\n');
  if (width <= columns) return drawn;
  return fitWidth(`The QR code needs ${width + 2} columns; widen the terminal, or open the link.`, columns);
}
