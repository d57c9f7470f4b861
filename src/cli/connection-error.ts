/** Explains why a server cannot be reached, and what to do about it. */
import { PoproomError } from '../client/index.ts';

/** Keeps the code OFFLINE. `details.reason` is for programs. */
export function explainOffline(error: PoproomError, url: string): PoproomError {
  const { reason, sentence } = explanationOf(error, new URL(url));
  const message = `Cannot connect to ${url}: ${sentence}`;
  return new PoproomError('OFFLINE', message, { details: { reason, url }, cause: error.cause });
}

function explanationOf(error: PoproomError, url: URL): { reason: Reason; sentence: string } {
  const causes = causesOf(error.cause);
  const codes = causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  // Node tries each address of a host for a quarter of a second. Errors other than that time-out say more.
  const sorted = codes.toSorted((a, b) => Number(a === 'ETIMEDOUT') - Number(b === 'ETIMEDOUT'));
  const ofCodes = sorted.map((code) => kinds.find(([, , ...known]) => known.includes(code)));
  const ofTls = codes.some((code) => code.startsWith('ERR_SSL')) ? noTls : unknown;
  const [reason, kind] = kindWithoutCode(causes) ?? ofCodes.find(Boolean) ?? ofTls;
  return { reason, sentence: sentences[kind](url) };
}

function kindWithoutCode(causes: readonly Cause[]): Kind | undefined {
  if (causes.some(({ name }) => name === 'TimeoutError')) return noResponse;
  return causes.some(({ message }) => message === 'bad port') ? ['port', 'reservedPort'] : undefined;
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

const sentences = {
  unknown: () => `check the URL and your network, or ${chooseAnother}`,
  refused: ({ hostname }: URL) =>
    isThisMachine(hostname)
      ? `no server is running there; start one with "poproom serve", or ${chooseAnother}`
      : `the connection was refused; check that the server is running on this port, or ${chooseAnother}`,
  /** `fetch` refuses the ports of other services, such as SMTP. */
  reservedPort: ({ port }: URL) =>
    `port ${port} is reserved for another service; check the port in the URL, or ${chooseAnother}`,
  unknownHost: ({ hostname }: URL) =>
    `there is no host named ${hostname}; check the spelling of the URL, and your network.`,
  lookupFailed: ({ hostname }: URL) =>
    `the name ${hostname} could not be looked up; check your network and its DNS server.`,
  noRoute: ({ hostname }: URL) => `there is no route to ${hostname}; check your network, VPN and firewall.`,
  noAnswer: ({ hostname }: URL) =>
    `${hostname} does not accept the connection in time; check the port, your network and the firewall.`,
  noResponse: () => 'it accepted the connection but did not respond in time; try again, or wait longer with --timeout.',
  closed: ({ protocol }: URL) =>
    `the connection was closed before a complete response; try again${protocol === 'http:' ? ', or use https:// if the server requires it' : ''}.`,
  unknownIssuer: ({ hostname }: URL) =>
    `this machine does not trust the issuer of the certificate of ${hostname}; if it is your own, set NODE_EXTRA_CA_CERTS to the file with its CA certificate.`,
  expired: ({ hostname }: URL) =>
    `the certificate of ${hostname} has expired; renew it on the server, and check the clock of this machine.`,
  notYetValid: ({ hostname }: URL) =>
    `the certificate of ${hostname} is not valid yet; check the clock of this machine.`,
  otherName: ({ hostname }: URL) =>
    `the certificate is not valid for ${hostname}; use a name that the certificate contains.`,
  rejected: ({ hostname }: URL) => `the certificate of ${hostname} was rejected; check it with your administrator.`,
  noTls: () => 'the server does not use TLS on this port; use http:// instead of https://, or the port for TLS.',
} satisfies Record<string, (url: URL) => string>;

type Reason = 'port' | 'dns' | 'refused' | 'unreachable' | 'timeout' | 'silent' | 'tls' | 'closed' | 'unknown';
/** The codes are those of the errors that it explains. */
type Kind = readonly [Reason, keyof typeof sentences, ...codes: string[]];

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

export const isThisMachine = (hostname: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
