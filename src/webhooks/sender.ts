/**
 * Sends events to webhooks. Members of rooms choose the URLs, so a request goes only to hosts that the operator allows,
 * to an address that was checked, without redirects, and nobody learns the response.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { WebhookOutcome, WebhookProblem, WebhookRequest, WebhookSender } from '../core/ports/webhooks.ts';
import { bare, findHost, isPermitted, type WebhookHost } from './hosts.ts';

export interface SenderOptions {
  /** The resolver of host names, which tests replace. */
  resolve?: (host: string) => Promise<LookupAddress[]>;
  /** For a request with its response. */
  timeoutMs?: number;
}

const maxRunning = 20;
const maxRunningPerHost = 4;
/** More of a response is not read. */
const maxResponseBytes = 4096;

export function createWebhookSender(hosts: readonly WebhookHost[], options: SenderOptions = {}): WebhookSender {
  const { resolve = (host) => lookup(host, { all: true }), timeoutMs = 5000 } = options;
  /** The hosts of running requests. */
  const running: string[] = [];

  async function attempt(url: URL, host: WebhookHost, request: WebhookRequest): Promise<WebhookOutcome> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const status = await post(url, request, { lookup: checkedLookup(host, resolve), signal });
      if (status >= 200 && status < 300) return { outcome: 'delivered' };
      return { outcome: 'failed', problem: problemOf(status) };
    } catch (error) {
      return failed(...reasonOf(error as NodeJS.ErrnoException, timeoutMs));
    }
  }

  return {
    isAllowed: (url) => findHost(hosts, url) !== undefined,

    async send(request) {
      const url = new URL(request.url);
      const host = findHost(hosts, url);
      // The operator may have changed the setting.
      if (!host) return failed('NOT_ALLOWED', 'The server does not allow webhooks to this host.');
      // The connection would not look up an address.
      if (isIP(bare(url.hostname)) > 0 && !isPermitted(host, bare(url.hostname))) return failed(...notPermitted);
      const toHost = running.filter((other) => other === url.host).length;
      if (running.length >= maxRunning || toHost >= maxRunningPerHost) return { outcome: 'busy' };
      running.push(url.host);
      try {
        return await attempt(url, host, request);
      } finally {
        running.splice(running.indexOf(url.host), 1);
      }
    },
  };
}

type Reason = [code: WebhookProblem['code'], message: string];

const failed = (...[code, message]: Reason): WebhookOutcome => ({ outcome: 'failed', problem: { code, message } });

/** Resolves with the status when the response has ended, or enough of it was read. */
function post(url: URL, { headers, body }: WebhookRequest, options: RequestOptions): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  // Loaded here, because few servers have webhooks and TLS takes time at the start.
  const client = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  const request = client.request(url, {
    ...options,
    method: 'POST',
    // Of its own: no connection is used twice, and no proxy of the environment sees it.
    agent: new client.Agent({}),
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body), 'User-Agent': 'Poproom' },
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const end = () => resolve(response.statusCode ?? 0);
    discard(response.on('error', end).on('close', end));
  });
  request.end(body);
  return promise;
}

function discard(response: IncomingMessage): void {
  let read = 0;
  response.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > maxResponseBytes) response.destroy();
  });
}

class NotPermitted extends Error {}

/** The connection uses the addresses that were checked: a second lookup could return others. */
function checkedLookup(host: WebhookHost, resolve: NonNullable<SenderOptions['resolve']>): LookupFunction {
  return (name, options, done) => {
    resolve(name).then(
      (found) => {
        const permitted = found.filter(({ address }) => isPermitted(host, address));
        const [first] = permitted;
        if (!first) done(new NotPermitted(), '', 0);
        else if (options.all) done(null, permitted);
        else done(null, first.address, first.family);
      },
      (error) => done(error, '', 0),
    );
  };
}

const notPermitted: Reason = ['PRIVATE_ADDRESS', 'The host has a private address, which the server does not allow.'];

function problemOf(status: number): WebhookProblem {
  if (status < 300 || status >= 400)
    return { code: 'STATUS', message: `The host responded with status ${status}.`, status };
  const message = `The host responded with a redirect (status ${status}). It was not followed.`;
  return { code: 'REDIRECT', message, status };
}

/** Without the message of the error, which may contain the URL. */
function reasonOf(error: NodeJS.ErrnoException, timeoutMs: number): Reason {
  if (error instanceof NotPermitted) return notPermitted;
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return ['TIMEOUT', `The host did not respond within ${timeoutMs / 1000} seconds.`];
  const { code = '' } = error;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['UNKNOWN_HOST', 'The host name could not be resolved.'];
  if (code === 'ECONNREFUSED') return ['REFUSED', 'The host refused the connection.'];
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return ['CERTIFICATE', 'The certificate of the host is not valid.'];
  return ['CONNECTION', 'The connection to the host failed.'];
}
