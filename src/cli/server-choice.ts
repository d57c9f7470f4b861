/** The server of a command: which one, the secrets that it may receive, and links to it for other devices. */
import { networkInterfaces } from 'node:os';
import { isThisMachine } from './connection-error.ts';
import type { Environment } from './environment.ts';
import { UsageError } from './errors.ts';
import { defaultServer, lastServer, readPreferences, serverNamed } from './preferences.ts';

const defaultUrl = 'http://localhost:8080';

export type ChosenServer = ReturnType<typeof chooseServer>;

/** `option` is the value of `--url`, and `linked` the server of a link. */
export function chooseServer(environment: Environment, option?: string, linked?: string) {
  const preferences = readPreferences(environment);
  const standard = defaultServer(preferences);
  const urlOf = (text: string | undefined) => text && (serverNamed(preferences, text)?.url ?? text);
  const named = [urlOf(option), urlOf(environment.url), standard.url];
  const candidates = [named[0], linked, ...named.slice(1), lastServer(environment)];
  const url = parseServerUrl(candidates.find((candidate) => candidate !== undefined) ?? defaultUrl);
  // A key of a named server without a URL is for no server.
  const others = Object.values(preferences.servers ?? {}).filter((server) => server.url !== undefined);
  const sources = [{ ...environment, url: urlOf(environment.url) }, standard, preferences, ...others];
  const secret = (name: SecretName) => secretFor(name, url, sources, [...named, defaultUrl]);
  return { url, apiKey: secret('apiKey'), createPassword: secret('createPassword') };
}

/** The server of an operator's command, which receives a secret: never the last one used, which may be from a link. */
export function chooseNamedServer(environment: Environment, option: string | undefined): string {
  const preferences = readPreferences(environment);
  const named = option ?? environment.url ?? defaultServer(preferences).url ?? defaultUrl;
  return parseServerUrl(serverNamed(preferences, named)?.url ?? named);
}

type SecretName = 'apiKey' | 'createPassword';
type SecretSource = Partial<Record<SecretName | 'url', string | undefined>>;

/**
 * A secret that was given with a server is only for that server. One without a server is only for servers that the user
 * named: neither a link from someone else nor the last server, which may come from such a link, may receive it.
 */
function secretFor(name: SecretName, url: string, sources: readonly SecretSource[], trusted: SecretSource['url'][]) {
  const isSame = (other = '') => URL.canParse(other) && serverIdOf(other) === serverIdOf(url);
  return sources.find((source) => source[name] && (source.url ? [source.url] : trusted).some(isSame))?.[name];
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

/** The note is for the user, if the link is not the one of the server, or works only on this machine. */
export type SharedLink = { link: string; note?: string };

/** The request goes to this machine, so a longer wait means that a firewall drops it. */
const probeMs = 5000;

/** Replaces localhost by the address of this machine in its network, if the server can be reached there. */
export async function toLanLink(link: string): Promise<SharedLink> {
  const url = new URL(link);
  if (!isThisMachine(url.hostname)) return { link };
  const address = lanAddress(networkInterfaces());
  if (address === undefined) return { link, note: 'The link works only on this machine, which is not in a network.' };
  const lan = Object.assign(new URL(link), { hostname: address });
  const isReachable = await isPoproom(lan.href.replace(/\/r\/[^/]*$/, ''));
  const note = isReachable
    ? `The link has the address of this machine in its network, instead of ${url.hostname}.`
    : `The link works only on this machine: the server does not answer on ${lan.host}; check POPROOM_HOST and the firewall.`;
  return { link: isReachable ? lan.href : link, note };
}

/** Prefers the addresses of home and office networks, and ignores those of containers, virtual machines and VPNs. */
export function lanAddress(interfaces: ReturnType<typeof networkInterfaces>): string | undefined {
  const addresses = Object.entries(interfaces)
    .filter(([name]) => !virtual.test(name))
    .flatMap(([, list = []]) => list)
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    .map(({ address }) => address);
  return addresses.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
}

const virtual =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|tun|tap|utun|wg|tailscale|zt|lxc|lxd|cni|flannel|podman)/i;
const preferred: readonly RegExp[] = [/^192\.168\./, /^10\./, /^172\.(1[6-9]|2\d|3[01])\./];

function rankOf(address: string): number {
  const rank = preferred.findIndex((range) => range.test(address));
  return rank < 0 ? preferred.length : rank;
}

/** `/livez` counts towards no limit. */
async function isPoproom(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(probeMs), redirect: 'error' });
    await response.body?.cancel();
    return response.ok && response.headers.has('X-Request-Id');
  } catch {
    return false;
  }
}
