/** Chooses the server, the room and the PIN for commands that connect to a server. */
import {
  type Client,
  createClient,
  isEncryptedCode,
  type LinkId,
  PoproomError,
  parseLinkId,
  type Room,
  type RoomCode,
} from '../client/index.ts';
import { linkIdLength, longestCode, parseRoomId } from '../protocol/room-code.ts';
import { type Input, keyIn } from './command.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { UsageError } from './errors.ts';
import { forgetRoom, openEncryptedRooms, type RoomDetails, rememberRoom } from './known-rooms.ts';
import { lastServer, rememberServer, tryTo } from './preferences.ts';
import { askAgain, pinFromEnvironment, promptForPin, readInputText, requireKey } from './prompt.ts';
import { chooseServer, explainOffline, timeoutOf } from './server-choice.ts';

/** For the list of recent rooms, which forgets a room that was deleted. */
type RoomMemory = { learn(details: RoomDetails): void; forget(): void };

/** Runs `work` with a client, and remembers the server as the last one used. */
export async function withServer<T>(input: Input, work: (client: Client, environment: Environment) => Promise<T>) {
  const environment = readEnvironment();
  const client = connect(input, environment);
  return rememberOnSuccess(environment, client, () => work(client, environment));
}

/**
 * Runs `work` in the room of the first argument. If the room requires a PIN or a key, prompts for it and runs `work`
 * again. Asks for the key of an encrypted room before any request, and never uses such a room without it. A link needs no
 * PIN, and the variable for the key of a room is not meant for a link that has no keys.
 */
export async function withRoom<T>(input: Input, work: WorkInRoom<T>): Promise<T> {
  const environment = readEnvironment();
  const { code, url, key: linkedKey } = await readRoom(input.args[0]);
  const client = connect(input, environment, url);
  return rememberOnSuccess(environment, client, async () => {
    const known = openEncryptedRooms(environment).find(client.url, code);
    const isLink = parseLinkId(code) !== undefined;
    const mayHaveKey = !isLink || isEncryptedCode(code);
    const givenKey = linkedKey ?? (mayHaveKey ? environment.roomKey : undefined);
    const needsKey = known !== undefined || isEncryptedCode(code);
    const key = givenKey ?? known?.key ?? (needsKey ? await requireKey(code) : undefined);
    const asksForPin = key === undefined && !isLink && input.isSet('pin');
    const fromEnvironment = isLink || input.isSet('pin') ? undefined : pinFromEnvironment(environment);
    const pin = asksForPin ? await promptForPin(`PIN of room ${code}: `) : fromEnvironment;
    let access = { pin, key, salt: known?.salt, seen: known?.seen };
    for (;;) {
      try {
        return await workInRoom({ environment, url: client.url, room: client.room(code, access) }, work);
      } catch (error) {
        access = { ...access, ...(await askAgain(error, code, { pin: fromEnvironment, key: givenKey })) };
      }
    }
  });
}

type OpenedRoom = { environment: Environment; url: string; room: Room };

type WorkInRoom<T> = (room: Room, memory: RoomMemory) => Promise<T>;

/** Runs `work` in a room, and remembers the room as one that was used. */
export async function workInRoom<T>({ environment, url, room }: OpenedRoom, work: WorkInRoom<T>): Promise<T> {
  const name = { url, code: room.code };
  const encrypted = openEncryptedRooms(environment);
  const known = encrypted.find(url, room.code);
  const isEncrypted = room.key !== undefined;
  let details: RoomDetails | undefined = {};
  const memory: RoomMemory = {
    learn(learned) {
      details = { ...details, ...learned };
    },
    forget() {
      details = undefined;
    },
  };
  try {
    // The first time, to check the key, and to know how long to remember the room.
    if (isEncrypted && known?.expiresAt === undefined) memory.learn({ expiresAt: (await room.info()).expiresAt });
    const result = await work(room, memory);
    if (details) rememberRoom(environment, name, details);
    else forgetRoom(environment, name);
    return result;
  } catch (error) {
    if (!(error instanceof PoproomError) || !['ROOM_NOT_FOUND', 'ROOM_EXPIRED'].includes(error.code)) throw error;
    if (!isEncrypted) forgetRoom(environment, name);
    throw error.code === 'ROOM_NOT_FOUND' && error.details.ended === undefined ? noSuchRoom(error, name) : error;
  } finally {
    const { salt, seen } = room;
    if (isEncrypted && !details) encrypted.forget(url, room.code);
    else if (isEncrypted && (known || details?.expiresAt !== undefined))
      tryTo(() => encrypted.remember(url, room.code, { salt, seen, expiresAt: details?.expiresAt }));
  }
}

/** The server does not know which room the user meant, nor by which URL. */
function noSuchRoom({ code, requestId, details }: PoproomError, room: { url: string; code: string }): PoproomError {
  const message = parseLinkId(room.code)
    ? `This link does not work on ${room.url}: it was revoked, its room was deleted, or it was copied incorrectly. Ask for a new one.`
    : `There is no room ${room.code} on ${room.url}.`;
  return new PoproomError(code, message, { requestId, details });
}

export function connect(input: Input, environment: Environment, linked?: string, deviceName?: string): Client {
  const server = chooseServer(environment, input.value('url'), linked);
  const timeoutSeconds = timeoutOf(input, environment) ?? 0;
  return createClient({ ...server, deviceName, retry: { attempts: 3, maxSeconds: 5 }, timeoutSeconds });
}

/** The code may also be the id of a link with a role. */
type NamedRoom = { code: RoomCode | LinkId; url?: string; key?: string };

/** A URL also names the server. One with a key is accepted only from standard input, where nobody else sees it. */
export async function readRoom(argument: string | undefined): Promise<NamedRoom> {
  if (argument === undefined) throw new UsageError('Which room? Give a code such as 7KQ2MX.');
  if (argument !== '-') return parseRoom(argument);
  return parsePrivateRoom((await readInputText()).trim());
}

/** A code or a link, which may contain a key. */
export function parsePrivateRoom(text: string): NamedRoom {
  const key = text.includes('#') ? { key: keyIn(text) } : {};
  return { ...parseRoom(text.replace(/#.*/s, '')), ...key };
}

function parseRoom(text: string): NamedRoom {
  const [named = '', fragment = ''] = text.split(/#(.*)/s, 2);
  const [, url, linked] = linkPattern.exec(named) ?? [];
  const isPublicKey = dropKeyForm.test(fragment) && parseLinkId(linked ?? named) !== undefined;
  // A shorter fragment is not a key.
  if (fragment.length >= 15 && !isPublicKey)
    throw new UsageError(fragment.includes('.') ? linkKeysRefused : keyArgumentRefused);
  return { code: parseCode(linked ?? named, named), ...(url && { url }), ...(isPublicKey && { key: fragment }) };
}

const keyArgumentRefused =
  'Do not pass a link with a room key as an argument: process lists and the shell history would show the key. Pass the code, and enter the key when you are asked; or pass - and pipe in the link.';

const linkKeysRefused =
  'Do not pass a link with keys as an argument: process lists and the shell history would show them. Pass - and pipe in the link; or leave out the part after #, and paste the link when you are asked.';

/** The fragment of a drop link to an encrypted room: a public key, with which nobody can read anything. */
const dropKeyForm = /^[\w-]{43}$/;

/** Parses a room code or the id of a link. `given` is what the user wrote, such as a URL. */
export function parseCode(text: string, given = text): RoomCode | LinkId {
  const code = parseRoomId(text);
  if (code) return code;
  const symbols = text.replace(/[\s\p{Pd}]/gu, '');
  const isLongCode = symbols.length > longestCode && /^[0-9A-Za-z]+$/.test(symbols);
  throw new UsageError(
    isLongCode
      ? `A link has ${linkIdLength} letters and digits, but "${given}" has ${symbols.length}; copy it again.`
      : `"${given}" is not a valid room code; example: 7KQ2MX`,
  );
}

const linkPattern = /^(https?:\/\/.+?)\/r\/([^/?#]+)/;

export const isRoomLink = (text: string): boolean => linkPattern.test(text);

/** Remembers the server as the last one used, or explains why it cannot be reached. */
export async function rememberOnSuccess<T>(environment: Environment, client: Client, work: () => Promise<T>) {
  try {
    const result = await work();
    if (client.url !== lastServer(environment)) rememberServer(environment, client.url);
    return result;
  } catch (error) {
    const isOffline = error instanceof PoproomError && (error.code === 'OFFLINE' || error.code === 'TIMEOUT');
    throw isOffline ? explainOffline(error, client.url) : error;
  }
}
