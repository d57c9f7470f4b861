/** `poproom new`: creates a room. */
import { type Client, type CreatedRoom, type NewRoom, PoproomError, type Room } from '../../client/index.ts';
import { type Input, isPin, pinArgumentRefused, readDuration } from '../command.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { openEncryptedRooms, rememberRoom } from '../known-rooms.ts';
import { countOf, formatExpiry, print, printable } from '../output.ts';
import { choosePin, confirmByDefault, isPartlyRead, isPiped, pinFromEnvironment, readInputText } from '../prompt.ts';
import { type SharedLink, toLanLink, withServer } from '../server-context.ts';
import { fitWidth, indented } from '../text-width.ts';

export async function createRoom(input: Input): Promise<void> {
  const lifetime = readLifetime(input);
  const isEncrypted = input.isSet('encrypted');
  if (isEncrypted && input.isSet('pin')) throw new UsageError('An encrypted room has a key instead of a PIN.');
  const text = await readText(input);
  const room = await withServer(input, async (client, environment) => {
    const name = input.value('name');
    const created = await createWithPin(input, client, {
      ...lifetime,
      ...(input.isSet('extend') && { extend: true }),
      ...(name !== undefined && { name }),
      ...(input.isSet('no-history') && { history: false }),
      encrypted: isEncrypted,
    });
    if (text !== '') await writeFirst(created, text);
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

export async function deleteUnused(room: Room, error: unknown): Promise<never> {
  await room.delete().catch(() => undefined);
  throw error;
}

/** Reads `--expires` before anything else happens. */
export function readLifetime(input: Input): Pick<NewRoom, 'expiresIn'> {
  const expires = input.value('expires');
  if (input.isSet('pin') && input.isSet('no-pin')) throw new UsageError('Use either --pin or --no-pin.');
  return expires === undefined ? {} : { expiresIn: readDuration(expires) };
}

/** Sends the request with the PIN that the user chooses. An encrypted room has none. */
export async function createWithPin(input: Input, client: Client, request: NewRoom): Promise<CreatedRoom> {
  const pin = request.encrypted ? undefined : await newRoomPin(input);
  return withLifetimeErrors(() => client.createRoom({ ...request, ...(pin !== undefined && { pin }) }));
}

/** Turns the rejection of `--expires` by a server, in seconds, into a sentence about days. */
export async function withLifetimeErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { field, maximum } = error instanceof PoproomError ? error.details : {};
    if (field !== 'expiresIn' || typeof maximum !== 'number') throw error;
    throw new UsageError(`--expires is too long: this server keeps a room for at most ${formatMaximum(maximum)}.`);
  }
}

/** Such as "7 days", "36 hours" or "90 minutes". */
function formatMaximum(seconds: number): string {
  const units = { day: 86_400, hour: 3600, minute: 60 };
  const [unit, size] = Object.entries(units).find(([, size]) => seconds % size === 0) ?? ['second', 1];
  return countOf(seconds / size, unit);
}

export function rememberCreated(environment: Environment, { url }: Client, room: CreatedRoom): void {
  const { code, key, salt, seen, expiresAt, name } = room;
  // So that the code alone works on this computer.
  if (key !== undefined) openEncryptedRooms(environment).remember(url, code, { key, salt, seen, expiresAt });
  rememberRoom(environment, { url, code }, { expiresAt, name });
}

/** `POPROOM_PIN` alone may be meant for another room, so it does not protect a new one unasked. */
async function newRoomPin(input: Input): Promise<string | undefined> {
  if (input.isSet('no-pin')) return undefined;
  const fromEnvironment = pinFromEnvironment(readEnvironment());
  if (input.isSet('pin')) return fromEnvironment ?? choosePin('PIN for the new room', 'no room was created');
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
