/** Chooses the server of a command, and the API key that it may receive. */
import type { Environment } from './environment.ts';
import { defaultServer, lastServer, type Preferences, readPreferences, serverNamed } from './preferences.ts';
import { UsageError } from './usage-error.ts';

const defaultUrl = 'http://localhost:8080';

export interface ChosenServer {
  url: string;
  apiKey: string | undefined;
}

/** `option` is the value of `--url`, and `linked` the server of a link. */
export function chooseServer(
  environment: Environment,
  { option, linked }: { option?: string | undefined; linked?: string | undefined } = {},
): ChosenServer {
  const preferences = readPreferences(environment);
  const standard = defaultServer(preferences);
  const urlOf = (text: string | undefined) => text && (serverNamed(preferences, text)?.url ?? text);
  const named = [urlOf(option), urlOf(environment.url), standard.url];
  const candidates = [named[0], linked, ...named.slice(1), lastServer(environment)];
  const url = parseServerUrl(candidates.find((candidate) => candidate !== undefined) ?? defaultUrl);
  const sources = [{ ...environment, url: urlOf(environment.url) }, standard, ...serversIn(preferences)];
  return { url, apiKey: keyFor(url, sources, [...named, defaultUrl]) };
}

/** The server of an operator's command, which receives a secret: never the last one used, which may be from a link. */
export function chooseNamedServer(environment: Environment, option: string | undefined): string {
  const preferences = readPreferences(environment);
  const named = option ?? environment.url ?? defaultServer(preferences).url ?? defaultUrl;
  return parseServerUrl(serverNamed(preferences, named)?.url ?? named);
}

const serversIn = ({ url, apiKey, servers = {} }: Preferences): KeySource[] => [
  { url, apiKey },
  // A key of a named server without a URL is for no server.
  ...Object.values(servers).filter((server) => server.url !== undefined),
];

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
  const isSame = (other: string | undefined) =>
    URL.canParse(other ?? '') && serverIdOf(other ?? '') === serverIdOf(url);
  return sources.find(({ url: own, apiKey }) => apiKey && (own ? [own] : trusted).some(isSame))?.apiKey;
}

/** The same for all spellings of a URL. A host may have other servers at other paths. */
export function serverIdOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

export function parseServerUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.username || url?.password) throw new UsageError('A server URL must not contain a user name or a password.');
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text;
  throw new UsageError(`"${text}" is not a valid server URL; example: https://pop.example.org`);
}
