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
import { type Environment, readEnvironment } from './environment.ts';
import { pinFromEnvironment, promptForPin, retryPin } from './pin.ts';
import { lastServer, readPreferences, rememberServer } from './preferences.ts';
import {
  type KnownRoom,
  keyArgumentRefused,
  keyFromEnvironment,
  keyIn,
  openRoomKeys,
  type RoomKeys,
  retryKey,
} from './room-keys.ts';
import { readInputText } from './standard-input.ts';
import { UsageError } from './usage-error.ts';

const defaultUrl = 'http://localhost:8080';

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
export async function withRoom<T>(input: Input, work: (room: Room) => Promise<T>): Promise<T> {
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
        return await work(room);
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

function connect(input: Input, environment: Environment, linked?: string): Client {
  const preferences = readPreferences(environment);
  const [option, ...configured] = [input.value('url'), environment.url, preferences.url];
  const candidates = [option, linked, ...configured, lastServer(environment)];
  const url = parseServerUrl(candidates.find((candidate) => candidate !== undefined) ?? defaultUrl);
  const apiKey = keyFor(url, [environment, preferences], [option, ...configured, defaultUrl]);
  return createClient({ url, apiKey, retry: { attempts: 3, maxSeconds: 5 } });
}

interface KeySource {
  url?: string | undefined;
  apiKey?: string | undefined;
}

/**
 * A key that was given with a server is only for that server. A key without a server is only for servers that the user
 * named: neither a link from someone else nor the last server, which may come from such a link, may receive it.
 */
function keyFor(
  url: string,
  sources: readonly KeySource[],
  trusted: readonly (string | undefined)[],
): string | undefined {
  const isSame = (other: string | undefined) => other !== undefined && URL.parse(other)?.origin === new URL(url).origin;
  return sources.find(({ url: own, apiKey }) => apiKey && (own ? [own] : trusted).some(isSame))?.apiKey;
}

export function parseServerUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.username || url?.password) throw new UsageError('A server URL must not contain a user name or a password.');
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text;
  throw new UsageError(`"${text}" is not a valid server URL; example: https://pop.example.org`);
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
  if (/^https?:.*#./s.test(text)) throw new UsageError(keyArgumentRefused);
  const [, url, linked] = /^(https?:\/\/.+?)\/r\/([^/?#]+)/.exec(text) ?? [];
  const code = parseRoomCode(linked ?? text);
  if (!code) throw new UsageError(`"${text}" is not a valid room code; example: 7KQ2MX`);
  return { code, ...(url && { url }) };
}

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
    throw error instanceof PoproomError && error.code === 'OFFLINE' ? cannotConnect(client.url) : error;
  }
}

const cannotConnect = (url: string) =>
  new PoproomError('OFFLINE', `Cannot connect to ${url}; use --url or POPROOM_URL to choose another server.`);
