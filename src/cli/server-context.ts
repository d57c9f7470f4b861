/** Chooses the server, the room and the PIN of a command, and explains why a server cannot be reached. */
import { networkInterfaces } from 'node:os';
import { type Client, createClient, isEncryptedCode, PoproomError, parseLinkId, type Room } from '../client/index.ts';
import { linkIdLength, longestCode, parseRoomId } from '../protocol/room-code.ts';
import { type Input, keyIn } from './command.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { UsageError } from './errors.ts';
import { forgetRoom, openEncryptedRooms, type RoomDetails, rememberRoom, serverIdOf } from './known-rooms.ts';
import { defaultServer, lastServer, readPreferences, rememberServer, serverNamed, tryTo } from './preferences.ts';
import { askAgain, pinFromEnvironment, promptForPin, readInputText, requireKey } from './prompt.ts';

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
type NamedRoom = { code: ReturnType<typeof parseCode>; url?: string; key?: string };

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
export function parseCode(text: string, given = text) {
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

/** The last bytes of an upload may take this long on a slow line, because the system buffers them. */
const defaultTimeoutSeconds = 60;

/** How long to wait for a server that is silent. Undefined means no limit. */
export function timeoutOf(input: Input, environment: Environment = readEnvironment()): number | undefined {
  const text = input.value('timeout') ?? environment.timeout;
  if (text === undefined) return defaultTimeoutSeconds;
  const [, number, unit] = /^(\d{1,5}(?:\.\d)?)([sm]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (unit === 'm' ? 60 : 1);
  if (number === undefined || seconds > 86_400)
    throw new UsageError(`"${text}" is not a valid timeout; use a time such as 30s or 5m, or 0 for no limit.`);
  return seconds === 0 ? undefined : seconds;
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
  return addresses.toSorted((a, b) => scoreOf(b) - scoreOf(a))[0];
}

const virtual =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|tun|tap|utun|wg|tailscale|zt|lxc|lxd|cni|flannel|podman)/i;
/** The last one is the most likely network of a home or an office. */
const preferred: readonly RegExp[] = [/^172\.(1[6-9]|2\d|3[01])\./, /^10\./, /^192\.168\./];
const scoreOf = (address: string): number => preferred.findIndex((range) => range.test(address));

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

/** Explains why a server cannot be reached, and what to do about it. `details.reason` is for programs. */
export function explainOffline(error: PoproomError, url: string): PoproomError {
  const [reason, kind] = kindOf(causesOf(error.cause));
  const message = `Cannot connect to ${url}: ${sentencesFor(new URL(url))[kind]}`;
  return new PoproomError('OFFLINE', message, { details: { reason, url }, cause: error.cause });
}

function kindOf(causes: readonly Cause[]): Kind {
  if (causes.some(({ name }) => name === 'TimeoutError')) return noResponse;
  if (causes.some(({ message }) => message === 'bad port')) return ['port', 'reservedPort'];
  const codes = causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  // Node tries each address of a host for a quarter of a second. Errors other than that time-out say more.
  const sorted = codes.toSorted((a, b) => Number(a === 'ETIMEDOUT') - Number(b === 'ETIMEDOUT'));
  const found = sorted.map((code) => kinds.find(([, , ...known]) => known.includes(code))).find(Boolean);
  return found ?? (codes.some((code) => code.startsWith('ERR_SSL')) ? noTls : unknown);
}

type Cause = { name?: string; message?: string; code?: unknown; cause?: unknown; errors?: unknown };

/** An error, what caused it, and the errors that it combines. Bounded, because a cause may refer to itself. */
function causesOf(cause: unknown): Cause[] {
  const found: Cause[] = [];
  const queue = [cause];
  while (queue.length > 0 && found.length < 16) {
    const next = queue.shift() as Cause | undefined;
    if (typeof next !== 'object' || next === null) continue;
    found.push(next);
    queue.push(next.cause, ...(Array.isArray(next.errors) ? next.errors : []));
  }
  return found;
}

const chooseAnother = 'choose another one with --url or POPROOM_URL.';

const sentencesFor = ({ hostname, port, protocol }: URL) => ({
  unknown: `check the URL and your network, or ${chooseAnother}`,
  refused: isThisMachine(hostname)
    ? `no server is running there; start one with "poproom serve", or ${chooseAnother}`
    : `the connection was refused; check that the server is running on this port, or ${chooseAnother}`,
  /** `fetch` refuses the ports of other services, such as SMTP. */
  reservedPort: `port ${port} is reserved for another service; check the port in the URL, or ${chooseAnother}`,
  unknownHost: `there is no host named ${hostname}; check the spelling of the URL, and your network.`,
  lookupFailed: `the name ${hostname} could not be looked up; check your network and its DNS server.`,
  noRoute: `there is no route to ${hostname}; check your network, VPN and firewall.`,
  noAnswer: `${hostname} does not accept the connection in time; check the port, your network and the firewall.`,
  noResponse: 'it accepted the connection but did not respond in time; try again, or wait longer with --timeout.',
  closed: `the connection was closed before a complete response; try again${protocol === 'http:' ? ', or use https:// if the server requires it' : ''}.`,
  unknownIssuer: `this machine does not trust the issuer of the certificate of ${hostname}; if it is your own, set NODE_EXTRA_CA_CERTS to the file with its CA certificate.`,
  expired: `the certificate of ${hostname} has expired; renew it on the server, and check the clock of this machine.`,
  notYetValid: `the certificate of ${hostname} is not valid yet; check the clock of this machine.`,
  otherName: `the certificate is not valid for ${hostname}; use a name that the certificate contains.`,
  rejected: `the certificate of ${hostname} was rejected; check it with your administrator.`,
  noTls: 'the server does not use TLS on this port; use http:// instead of https://, or the port for TLS.',
});

type Reason = 'port' | 'dns' | 'refused' | 'unreachable' | 'timeout' | 'silent' | 'tls' | 'closed' | 'unknown';
/** The codes are those of the errors that it explains. */
type Kind = readonly [Reason, keyof ReturnType<typeof sentencesFor>, ...codes: string[]];

const unknown: Kind = ['unknown', 'unknown'];
const noResponse: Kind = ['silent', 'noResponse', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];
const noTls: Kind = ['tls', 'noTls', 'EPROTO'];

const unknownIssuerCodes = [
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
];

const kinds: readonly Kind[] = [
  ['refused', 'refused', 'ECONNREFUSED'],
  ['dns', 'unknownHost', 'ENOTFOUND'],
  ['dns', 'lookupFailed', 'EAI_AGAIN', 'EAI_FAIL'],
  ['unreachable', 'noRoute', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ['timeout', 'noAnswer', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'],
  noResponse,
  ['closed', 'closed', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'HPE_INVALID_CONSTANT'],
  ['tls', 'unknownIssuer', ...unknownIssuerCodes],
  ['tls', 'expired', 'CERT_HAS_EXPIRED'],
  ['tls', 'notYetValid', 'CERT_NOT_YET_VALID'],
  ['tls', 'otherName', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['tls', 'rejected', 'CERT_REVOKED', 'CERT_UNTRUSTED', 'CERT_REJECTED'],
  noTls,
];

const isThisMachine = (hostname: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
