/** What all commands that go to a server have in common: its address, the code of a room, the PIN. */
import { type Client, createClient, PoproomError, parseRoomCode, type Room } from '../client/index.ts';
import type { Input } from './command.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { betterPin, givenPin, mustAskPin } from './pin.ts';
import { lastServer, readPreferences, rememberServer } from './preferences.ts';
import { UsageError } from './usage-error.ts';

const standardUrl = 'http://localhost:8080';

/** What is done at the server; afterwards it is the one that was used last. */
export async function atServer<T>(input: Input, work: (client: Client, environment: Environment) => Promise<T>) {
  const environment = readEnvironment();
  return remembering(environment, connect(input, environment), (client) => work(client, environment));
}

/** What is done in the room that the first argument names; where it wants a PIN, the person is asked, and it is done again. */
export async function inRoom<T>(input: Input, work: (room: Room) => Promise<T>): Promise<T> {
  const environment = readEnvironment();
  const { code, url } = readRoom(input.args[0]);
  return remembering(environment, connect(input, environment, url), async (client) => {
    const given = input.isSet('pin') ? undefined : givenPin(environment);
    let pin = input.isSet('pin') ? await mustAskPin(`PIN of room ${code}: `) : given;
    for (;;) {
      try {
        return await work(client.room(code, { pin }));
      } catch (error) {
        // One that a script gives is not mended by asking.
        if (given !== undefined) throw error;
        pin = await betterPin(error, code);
      }
    }
  });
}

function connect(input: Input, environment: Environment, linked?: string): Client {
  const preferences = readPreferences(environment);
  const [said, ...configured] = [input.value('url'), environment.url, preferences.url];
  const named = [said, linked, ...configured, lastServer(environment), standardUrl];
  const url = checkedUrl(named.find((one) => one !== undefined) ?? standardUrl);
  const apiKey = keyFor(url, [environment, preferences], [said, ...configured, standardUrl]);
  return createClient({ url, apiKey, retry: { attempts: 3, maxSeconds: 5 } });
}

interface GivenKey {
  url?: string | undefined;
  apiKey?: string | undefined;
}

/**
 * A key is for the server that it was given with, and one that was given with none for those that the person named:
 * someone else's link must not take it elsewhere, nor the memory of where that link led.
 */
function keyFor(url: string, given: readonly GivenKey[], named: readonly (string | undefined)[]): string | undefined {
  const isSame = (other: string | undefined) => other !== undefined && URL.parse(other)?.origin === new URL(url).origin;
  return given.find(({ url: home, apiKey }) => apiKey && (home ? [home] : named).some(isSame))?.apiKey;
}

export function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.username || url?.password) throw new UsageError('The address of a server has no user or password in it.');
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text;
  throw new UsageError(`"${text}" is no address of a server; one looks like https://pop.example.org.`);
}

/** A link goes to the server that it names. */
function readRoom(text: string | undefined): { code: string; url?: string } {
  if (text === undefined) throw new UsageError('Which room? Say its code, such as 7KQ2MX.');
  const [, url, linked] = /^(https?:\/\/.+?)\/r\/([^/?#]+)/.exec(text) ?? [];
  const code = parseRoomCode(linked ?? text);
  if (!code) throw new UsageError(`"${text}" is no room code; one looks like 7KQ2MX.`);
  return { code, ...(url && { url }) };
}

async function remembering<T>(environment: Environment, client: Client, work: (client: Client) => Promise<T>) {
  try {
    const result = await work(client);
    if (client.url !== lastServer(environment)) rememberServer(environment, client.url);
    return result;
  } catch (error) {
    throw error instanceof PoproomError && error.code === 'OFFLINE' ? nobodyAt(client.url) : error;
  }
}

const nobodyAt = (url: string) =>
  new PoproomError('OFFLINE', `There is no server at ${url}; say another with --url or POPROOM_URL.`);
