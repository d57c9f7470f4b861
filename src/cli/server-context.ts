/** Chooses the server, the room and the PIN for commands that connect to a server. */
import { type Client, createClient, PoproomError, parseRoomCode, type Room } from '../client/index.ts';
import type { Input } from './command.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { pinFromEnvironment, promptForPin, retryPin } from './pin.ts';
import { lastServer, readPreferences, rememberServer } from './preferences.ts';
import { UsageError } from './usage-error.ts';

const defaultUrl = 'http://localhost:8080';

/** Runs `work` with a client, and remembers the server as the last one used. */
export async function withServer<T>(input: Input, work: (client: Client, environment: Environment) => Promise<T>) {
  const environment = readEnvironment();
  return rememberOnSuccess(environment, connect(input, environment), (client) => work(client, environment));
}

/** Runs `work` in the room of the first argument. If the room requires a PIN, prompts for it and runs `work` again. */
export async function withRoom<T>(input: Input, work: (room: Room) => Promise<T>): Promise<T> {
  const environment = readEnvironment();
  const { code, url } = readRoom(input.args[0]);
  return rememberOnSuccess(environment, connect(input, environment, url), async (client) => {
    const fromEnvironment = input.isSet('pin') ? undefined : pinFromEnvironment(environment);
    let pin = input.isSet('pin') ? await promptForPin(`PIN of room ${code}: `) : fromEnvironment;
    for (;;) {
      try {
        return await work(client.room(code, { pin }));
      } catch (error) {
        // A script that sets the PIN cannot answer a prompt.
        if (fromEnvironment !== undefined) throw error;
        pin = await retryPin(error, code);
      }
    }
  });
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

/** A link also names the server. */
function readRoom(text: string | undefined): { code: string; url?: string } {
  if (text === undefined) throw new UsageError('Which room? Give a code such as 7KQ2MX.');
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
