/** Chooses the server, the room and the PIN for commands that connect to a server. */
import type { EncryptedRoom } from '../client/crypto/index.ts';
import {
  type Client,
  createClient,
  EncryptionError,
  PoproomError,
  parseRoomCode,
  type Room,
  type RoomCode,
} from '../client/index.ts';
import type { Input } from './command.ts';
import { explainOffline } from './connection-error.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { pinFromEnvironment, promptForPin, retryPin } from './pin.ts';
import { lastServer, rememberServer } from './preferences.ts';
import { forgetRoom, type RoomDetails, rememberRoom } from './recent-rooms.ts';
import {
  type KnownRoom,
  keyArgumentRefused,
  keyFromEnvironment,
  keyIn,
  openRoomKeys,
  type RoomKeys,
  retryKey,
} from './room-keys.ts';
import { chooseServer } from './server-choice.ts';
import { readInputText } from './standard-input.ts';
import { timeoutOf } from './timeout.ts';
import { UsageError } from './usage-error.ts';

export { parseServerUrl } from './server-choice.ts';

/** For the list of recent rooms. */
export interface RoomMemory {
  learn(details: RoomDetails): void;
  /** The room was deleted. */
  forget(): void;
}

/** An encrypted room for programs that send their own requests, such as curl. */
export interface UnlockedRoom {
  room: EncryptedRoom;
  /** For the header `X-Room-Auth`. */
  auth: string;
}

/** Asks the server for the salt of a room, and derives its keys. */
export async function unlockRoom(input: Input): Promise<UnlockedRoom> {
  const environment = readEnvironment();
  const { authToken, deriveKeys, parseRoomKey, parseSalt } = await import('../client/crypto/index.ts');
  const { code, url } = await readRoom(input.args[0]);
  return rememberOnSuccess(environment, connect(input, environment, url), async (client) => {
    const refusal = await client
      .room(code)
      .info()
      .then(notEncrypted, (error: unknown) => error);
    if (refusal instanceof PoproomError && refusal.code === 'ROOM_NOT_FOUND')
      throw noSuchRoom(refusal, { url: client.url, code });
    if (!(refusal instanceof PoproomError) || refusal.code !== 'KEY_REQUIRED') throw refusal;
    const known = keyFromEnvironment(environment) ?? openRoomKeys(environment).find(client.url, code)?.key;
    const key = parseRoomKey(known ?? (await retryKey(refusal, code)));
    const keys = await deriveKeys(key, parseSalt(String(refusal.details.salt)));
    return { room: { code: code as RoomCode, keys }, auth: authToken(keys) };
  });
}

const notEncrypted = () => new EncryptionError('NOT_ENCRYPTED', 'This room is not encrypted.');

/** Runs `work` with a client, and remembers the server as the last one used. */
export async function withServer<T>(input: Input, work: (client: Client, environment: Environment) => Promise<T>) {
  const environment = readEnvironment();
  return rememberOnSuccess(environment, connect(input, environment), (client) => work(client, environment));
}

/**
 * Runs `work` in the room of the first argument. If the room requires a PIN or a key, prompts for it and runs `work`
 * again.
 */
export async function withRoom<T>(input: Input, work: (room: Room, memory: RoomMemory) => Promise<T>): Promise<T> {
  const environment = readEnvironment();
  const { code, url, key: linkedKey } = await readRoom(input.args[0]);
  return rememberOnSuccess(environment, connect(input, environment, url), async (client) => {
    const fromEnvironment = input.isSet('pin') ? undefined : pinFromEnvironment(environment);
    const keys = openRoomKeys(environment);
    const known = keys.find(client.url, code);
    const givenKey = linkedKey ?? keyFromEnvironment(environment);
    let pin = input.isSet('pin') ? await promptForPin(`PIN of room ${code}: `) : fromEnvironment;
    let key = givenKey ?? known?.key;
    for (;;) {
      const room = client.room(code, { pin, key, seen: key === known?.key ? known?.seen : undefined });
      try {
        return await workInRoom(environment, client, room, work);
      } catch (error) {
        if (known && isEnd(error)) keys.forget(client.url, code);
        // A script that sets the PIN or the key cannot answer a prompt.
        if (isAboutKey(error) && givenKey === undefined) key = await retryKey(error, code);
        else if (fromEnvironment !== undefined || givenKey !== undefined) throw error;
        else pin = await retryPin(error, code);
      } finally {
        if (known && key === known.key && room.seen) keepSeen(keys, client.url, code, { key, seen: room.seen });
      }
    }
  });
}

const isAboutKey = (error: unknown) =>
  error instanceof PoproomError && (error.code === 'KEY_REQUIRED' || error.code === 'KEY_INCORRECT');

const isEnd = (error: unknown) =>
  error instanceof PoproomError && (error.code === 'ROOM_NOT_FOUND' || error.code === 'ROOM_EXPIRED');

/** Only for rooms whose key is still kept. Failures are ignored, because the command itself has succeeded. */
function keepSeen(keys: RoomKeys, url: string, code: string, room: KnownRoom): void {
  try {
    if (keys.find(url, code)) keys.keep(url, code, room);
  } catch {}
}

async function workInRoom<T>(
  environment: Environment,
  { url }: Client,
  room: Room,
  work: (room: Room, memory: RoomMemory) => Promise<T>,
): Promise<T> {
  const key = { url, code: room.code };
  let known: RoomDetails | undefined = {};
  const memory: RoomMemory = {
    learn(details) {
      known = { ...known, ...details };
    },
    forget() {
      known = undefined;
    },
  };
  try {
    const result = await work(room, memory);
    if (known) rememberRoom(environment, key, known);
    else forgetRoom(environment, key);
    return result;
  } catch (error) {
    if (!(error instanceof PoproomError) || !endCodes.includes(error.code)) throw error;
    forgetRoom(environment, key);
    throw error.code === 'ROOM_NOT_FOUND' && error.details.ended === undefined ? noSuchRoom(error, key) : error;
  }
}

const endCodes: readonly string[] = ['ROOM_NOT_FOUND', 'ROOM_EXPIRED'];

/** The server does not know which room the user meant, nor by which URL. */
function noSuchRoom({ code, requestId, details }: PoproomError, room: { url: string; code: string }): PoproomError {
  return new PoproomError(code, `There is no room ${room.code} on ${room.url}.`, { requestId, details });
}

function connect(input: Input, environment: Environment, linked?: string): Client {
  const { url, apiKey } = chooseServer(environment, { option: input.value('url'), linked });
  const timeoutSeconds = timeoutOf(input, environment) ?? 0;
  return createClient({ url, apiKey, retry: { attempts: 3, maxSeconds: 5 }, timeoutSeconds });
}

interface NamedRoom {
  code: string;
  url?: string;
  key?: string;
}

/** A link also names the server. One with a key is accepted only from standard input, where nobody else sees it. */
export async function readRoom(argument: string | undefined): Promise<NamedRoom> {
  if (argument === undefined) throw new UsageError('Which room? Give a code such as 7KQ2MX.');
  if (argument !== '-') return parseRoom(argument);
  const link = (await readInputText()).trim();
  const key = link.includes('#') ? { key: keyIn(link) } : {};
  return { ...parseRoom(link.replace(/#.*/s, '')), ...key };
}

function parseRoom(text: string): NamedRoom {
  // A shorter fragment is not a key.
  if (/^https?:.*#.{15}/s.test(text)) throw new UsageError(keyArgumentRefused);
  const [, url, linked] = linkPattern.exec(text) ?? [];
  const code = parseRoomCode(linked ?? text);
  if (!code) throw new UsageError(`"${text}" is not a valid room code; example: 7KQ2MX`);
  return { code, ...(url && { url }) };
}

const linkPattern = /^(https?:\/\/.+?)\/r\/([^/?#]+)/;

export const isRoomLink = (text: string): boolean => linkPattern.test(text);

async function rememberOnSuccess<T>(
  environment: Environment,
  client: Client,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(client);
    if (client.url !== lastServer(environment)) rememberServer(environment, client.url);
    return result;
  } catch (error) {
    const isOffline = error instanceof PoproomError && (error.code === 'OFFLINE' || error.code === 'TIMEOUT');
    throw isOffline ? explainOffline(error, client.url) : error;
  }
}
