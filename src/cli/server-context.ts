/** Chooses the server, the room and the PIN for commands that connect to a server. */
import type { EncryptedRoom } from '../client/crypto/keys.ts';
import {
  type Client,
  createClient,
  EncryptionError,
  isEncryptedCode,
  type LinkId,
  PoproomError,
  parseLinkId,
  type Room,
  type RoomCode,
} from '../client/index.ts';
import { linkIdLength, longestCode, parseRoomId } from '../protocol/room-code.ts';
import type { Input } from './command.ts';
import { explainOffline } from './connection-error.ts';
import { timeoutOf } from './duration.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { UsageError } from './errors.ts';
import {
  type EncryptedRooms,
  forgetRoom,
  type KnownEncryptedRoom,
  openEncryptedRooms,
  type RoomDetails,
  rememberRoom,
} from './known-rooms.ts';
import { lastServer, rememberServer, tryTo } from './preferences.ts';
import {
  keyArgumentRefused,
  keyFromEnvironment,
  keyIn,
  linkKeysRefused,
  pinFromEnvironment,
  promptForPin,
  readInputText,
  requireKey,
  retryKey,
  retryPin,
} from './prompt.ts';
import { chooseServer } from './server-choice.ts';

/** For the list of recent rooms, which forgets a room that was deleted. */
type RoomMemory = { learn(details: RoomDetails): void; forget(): void };

/** Derives the keys of a room for programs that send their own requests. `auth` is for the header `X-Room-Auth`. */
export async function unlockRoom(input: Input): Promise<{ room: EncryptedRoom; auth: string | undefined }> {
  const { authToken, deriveKeys, parseFragment, parseSalt } = await import('../client/crypto/keys.ts');
  const { parseRoomKey } = await import('../client/crypto/room-key.ts');
  return withRoom(input, async (room) => {
    await room.info();
    const { code, key, salt } = room;
    if (key !== undefined && parseLinkId(code)) {
      const found = parseFragment(key);
      if (found.role === 'drop') throw new PoproomError('DROP_ONLY', 'This link may only add files to the room.');
      return { room: { code: found.code, keys: found.keys }, auth: undefined };
    }
    if (key === undefined || salt === undefined)
      throw new EncryptionError('NOT_ENCRYPTED', 'This room is not encrypted.');
    const keys = await deriveKeys(parseRoomKey(key), parseSalt(salt));
    return { room: { code: code as RoomCode, keys }, auth: authToken(keys) };
  });
}

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
    const encrypted = openEncryptedRooms(environment);
    const known = encrypted.find(client.url, code);
    const isLink = parseLinkId(code) !== undefined;
    const mayHaveKey = !isLink || isEncryptedCode(code);
    const givenKey = linkedKey ?? (mayHaveKey ? keyFromEnvironment(environment) : undefined);
    let key = givenKey ?? known?.key;
    if (key === undefined && (known || isEncryptedCode(code))) key = await requireKey(code);
    const asksForPin = key === undefined && !isLink && input.isSet('pin');
    const fromEnvironment = isLink || input.isSet('pin') ? undefined : pinFromEnvironment(environment);
    let pin = asksForPin ? await promptForPin(`PIN of room ${code}: `) : fromEnvironment;
    for (;;) {
      const room = client.room(code, { pin, key, salt: known?.salt, seen: known?.seen });
      try {
        return await workInRoom({ environment, url: client.url, room, encrypted, known }, work);
      } catch (error) {
        // A script that sets the PIN or the key cannot answer a prompt.
        if (isAboutKey(error) && givenKey === undefined) key = await retryKey(error, code);
        else if (fromEnvironment !== undefined || givenKey !== undefined) throw error;
        else pin = await retryPin(error, code);
      }
    }
  });
}

const isAboutKey = (error: unknown) =>
  error instanceof PoproomError && (error.code === 'KEY_REQUIRED' || error.code === 'KEY_INCORRECT');

interface OpenedRoom {
  environment: Environment;
  url: string;
  room: Room;
  encrypted: EncryptedRooms;
  /** If the room is encrypted and was used on this computer before. */
  known: KnownEncryptedRoom | undefined;
}

type WorkInRoom<T> = (room: Room, memory: RoomMemory) => Promise<T>;

/** Runs `work` in a room, and remembers the room as one that was used. */
export async function workInRoom<T>(opened: OpenedRoom, work: WorkInRoom<T>): Promise<T> {
  const { environment, url, room, encrypted, known } = opened;
  const name = { url, code: room.code };
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
    if (!(error instanceof PoproomError) || !endCodes.includes(error.code)) throw error;
    if (!isEncrypted) forgetRoom(environment, name);
    throw error.code === 'ROOM_NOT_FOUND' && error.details.ended === undefined ? noSuchRoom(error, name) : error;
  } finally {
    const { salt, seen } = room;
    if (isEncrypted && !details) encrypted.forget(url, room.code);
    else if (isEncrypted && (known || details?.expiresAt !== undefined))
      tryTo(() => encrypted.remember(url, room.code, { salt, seen, expiresAt: details?.expiresAt }));
  }
}

const endCodes: readonly string[] = ['ROOM_NOT_FOUND', 'ROOM_EXPIRED'];

/** The server does not know which room the user meant, nor by which URL. */
function noSuchRoom({ code, requestId, details }: PoproomError, room: { url: string; code: string }): PoproomError {
  const message = parseLinkId(room.code)
    ? `This link does not work on ${room.url}: it was revoked, its room was deleted, or it was copied incorrectly. Ask for a new one.`
    : `There is no room ${room.code} on ${room.url}.`;
  return new PoproomError(code, message, { requestId, details });
}

/** `linked` is the server of a link. */
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
