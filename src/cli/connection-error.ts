/** Explains why a server cannot be reached, and what to do about it. */
import { PoproomError } from '../client/index.ts';

type Reason = 'port' | 'dns' | 'refused' | 'unreachable' | 'timeout' | 'silent' | 'tls' | 'closed' | 'unknown';

interface Explanation {
  reason: Reason;
  sentence: string;
}

/** Keeps the code OFFLINE. `details.reason` is for programs. */
export function explainOffline(error: PoproomError, url: string): PoproomError {
  const { reason, sentence } = explanationOf(error, new URL(url));
  const message = `Cannot connect to ${url}: ${sentence}`;
  return new PoproomError('OFFLINE', message, { details: { reason, url }, cause: error.cause });
}

function explanationOf(error: PoproomError, url: URL): Explanation {
  const causes = causesOf(error.cause);
  const timeout = causes.find(({ name }) => name === 'TimeoutError');
  if (timeout) return { reason: 'silent', sentence: silent };
  if (causes.some(({ message }) => message === 'bad port')) return reservedPort(url);
  const codes = causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  // Node tries each address of a host for a quarter of a second. Errors other than that time-out say more.
  for (const code of codes.toSorted((a, b) => Number(a === 'ETIMEDOUT') - Number(b === 'ETIMEDOUT'))) {
    const found = byCode.get(code)?.(url);
    if (found) return found;
  }
  return codes.some((code) => code.startsWith('ERR_SSL')) ? noTls() : other;
}

interface Cause {
  name?: string;
  message?: string;
  code?: unknown;
  cause?: unknown;
  errors?: unknown;
}

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

type Explain = (url: URL) => Explanation;

const chooseAnother = 'choose another one with --url or POPROOM_URL.';
const silent = 'it accepted the connection but did not respond in time; try again, or wait longer with --timeout.';
const other: Explanation = { reason: 'unknown', sentence: `check the URL and your network, or ${chooseAnother}` };

const refused: Explain = ({ hostname }) => ({
  reason: 'refused',
  sentence: isThisMachine(hostname)
    ? `no server is running there; start one with "poproom serve", or ${chooseAnother}`
    : `the connection was refused; check that the server is running on this port, or ${chooseAnother}`,
});

/** `fetch` refuses the ports of other services, such as SMTP. */
const reservedPort: Explain = ({ port }) => ({
  reason: 'port',
  sentence: `port ${port} is reserved for another service; check the port in the URL, or ${chooseAnother}`,
});

const unknownHost: Explain = ({ hostname }) => ({
  reason: 'dns',
  sentence: `there is no host named ${hostname}; check the spelling of the URL, and your network.`,
});

const lookupFailed: Explain = ({ hostname }) => ({
  reason: 'dns',
  sentence: `the name ${hostname} could not be looked up; check your network and its DNS server.`,
});

const noRoute: Explain = ({ hostname }) => ({
  reason: 'unreachable',
  sentence: `there is no route to ${hostname}; check your network, VPN and firewall.`,
});

const noAnswer: Explain = ({ hostname }) => ({
  reason: 'timeout',
  sentence: `${hostname} does not accept the connection in time; check the port, your network and the firewall.`,
});

const noResponse: Explain = () => ({ reason: 'silent', sentence: silent });

const closed: Explain = ({ protocol }) => ({
  reason: 'closed',
  sentence: `the connection was closed before a complete response; try again${protocol === 'http:' ? ', or use https:// if the server requires it' : ''}.`,
});

const tls = (sentence: (host: string) => string): Explain => {
  return ({ hostname }) => ({ reason: 'tls', sentence: sentence(hostname) });
};

const unknownIssuer = tls(
  (host) =>
    `this machine does not trust the issuer of the certificate of ${host}; if it is your own, set NODE_EXTRA_CA_CERTS to the file with its CA certificate.`,
);
const expired = tls(
  (host) => `the certificate of ${host} has expired; renew it on the server, and check the clock of this machine.`,
);
const notYetValid = tls((host) => `the certificate of ${host} is not valid yet; check the clock of this machine.`);
const otherName = tls((host) => `the certificate is not valid for ${host}; use a name that the certificate contains.`);
const rejected = tls((host) => `the certificate of ${host} was rejected; check it with your administrator.`);

const noTls = (): Explanation => ({
  reason: 'tls',
  sentence: 'the server does not use TLS on this port; use http:// instead of https://, or the port for TLS.',
});

const byCode: ReadonlyMap<string, Explain> = new Map([
  ['ECONNREFUSED', refused],
  ['ENOTFOUND', unknownHost],
  ['EAI_AGAIN', lookupFailed],
  ['EAI_FAIL', lookupFailed],
  ['EHOSTUNREACH', noRoute],
  ['ENETUNREACH', noRoute],
  ['EADDRNOTAVAIL', noRoute],
  ['ETIMEDOUT', noAnswer],
  ['UND_ERR_CONNECT_TIMEOUT', noAnswer],
  ['UND_ERR_HEADERS_TIMEOUT', noResponse],
  ['UND_ERR_BODY_TIMEOUT', noResponse],
  ['ECONNRESET', closed],
  ['EPIPE', closed],
  ['UND_ERR_SOCKET', closed],
  ['HPE_INVALID_CONSTANT', closed],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', unknownIssuer],
  ['UNABLE_TO_GET_ISSUER_CERT', unknownIssuer],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', unknownIssuer],
  ['SELF_SIGNED_CERT_IN_CHAIN', unknownIssuer],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', unknownIssuer],
  ['CERT_HAS_EXPIRED', expired],
  ['CERT_NOT_YET_VALID', notYetValid],
  ['ERR_TLS_CERT_ALTNAME_INVALID', otherName],
  ['CERT_REVOKED', rejected],
  ['CERT_UNTRUSTED', rejected],
  ['CERT_REJECTED', rejected],
  ['EPROTO', noTls],
]);

const thisMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a host name in a URL is that of this machine. */
export const isThisMachine = (hostname: string): boolean => thisMachine.has(hostname);
