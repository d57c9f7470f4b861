/** Chooses the server, the room and the PIN for commands that connect to a server. */
import { type Client, createClient, PoproomError, parseRoomCode, type Room } from '../client/index.ts';
import type { Input } from './command.ts';
import { explainOffline } from './connection-error.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { pinFromEnvironment, promptForPin, retryPin } from './pin.ts';
import { lastServer, rememberServer } from './preferences.ts';
import { forgetRoom, type RoomDetails, rememberRoom } from './recent-rooms.ts';
import { chooseServer } from './server-choice.ts';
import { timeoutOf } from './timeout.ts';
import { UsageError } from './usage-error.ts';

export { parseServerUrl } from './server-choice.ts';

/** For the list of recent rooms. */
export interface RoomMemory {
  learn(details: RoomDetails): void;
  /** The room was deleted. */
  forget(): void;
}

/** Runs `work` with a client, and remembers the server as the last one used. */
export async function withServer<T>(input: Input, work: (client: Client, environment: Environment) => Promise<T>) {
  const environment = readEnvironment();
  return rememberOnSuccess(environment, connect(input, environment), (client) => work(client, environment));
}

/** Runs `work` in the room of the first argument. If the room requires a PIN, prompts for it and runs `work` again. */
export async function withRoom<T>(input: Input, work: (room: Room, memory: RoomMemory) => Promise<T>): Promise<T> {
  const environment = readEnvironment();
  const { code, url } = readRoom(input.args[0]);
  return rememberOnSuccess(environment, connect(input, environment, url), async (client) => {
    const fromEnvironment = input.isSet('pin') ? undefined : pinFromEnvironment(environment);
    let pin = input.isSet('pin') ? await promptForPin(`PIN of room ${code}: `) : fromEnvironment;
    for (;;) {
      try {
        return await workInRoom(environment, client, client.room(code, { pin }), work);
      } catch (error) {
        // A script that sets the PIN cannot answer a prompt.
        if (fromEnvironment !== undefined) throw error;
        pin = await retryPin(error, code);
      }
    }
  });
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
  const timeoutSeconds = timeoutOf(input, environment);
  return createClient({ url, apiKey, retry: { attempts: 3, maxSeconds: 5 }, timeoutSeconds });
}

/** A link also names the server. */
function readRoom(text: string | undefined): { code: string; url?: string } {
  if (text === undefined) throw new UsageError('Which room? Give a code such as 7KQ2MX.');
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
    throw error instanceof PoproomError && error.code === 'OFFLINE' ? explainOffline(error, client.url) : error;
  }
}
