/** Sends requests to the server, and turns responses into values or errors. */
import { connectionError, errorFrom, redirectError, unexpectedResponse } from './error.ts';
import type { Measured, streamBody } from './measured-stream.ts';
import type { OnRetry, Retry } from './retry.ts';
import { maxJsonBytes, parseJson, type Shape } from './shapes.ts';
import type { CallOptions, SilenceLimit, Timeouts } from './silence-limit.ts';

export type { CallOptions } from './silence-limit.ts';

export interface Call extends CallOptions {
  method?: string;
  json?: unknown;
  body?: Blob | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string | undefined>>;
  /** Sends the request without the API key. */
  omitsApiKey?: boolean;
  /** Does not use a response that the browser has cached. */
  reload?: boolean | undefined;
  /** A further status that counts as success. */
  acceptedStatus?: number;
  /** Called with the number of bytes of the body that were sent. */
  onProgress?: ((sent: number) => void) | undefined;
  /** Sends the body instead of `fetch`, and calls `onBytes` for all progress. Rejects with the error for the program. */
  sendBody?: (url: string, init: SentBody, onBytes: (sent?: number) => void) => Promise<Response>;
}

type SentBody = { method: string; headers: Record<string, string>; body: unknown; signal: AbortSignal | null };

export interface Transport {
  /** Without a trailing slash. */
  readonly url: string;
  readonly rateLimit: RateLimit | undefined;
  /** Undefined means no limits. */
  readonly timeouts: Timeouts | undefined;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns a successful response, and throws otherwise. */
  send(path: string, call?: Call): Promise<Response>;
  /** Returns the checked body with status and headers. Throws if the body does not have this shape. */
  request<T>(path: string, shape: Shape<T>, call?: Call): Promise<{ status: number; body: T; header: ReadHeader }>;
  /** Returns only the body. */
  call<T>(path: string, shape: Shape<T>, call?: Call): Promise<T>;
  /** Records the rate limit of a response. */
  recordRateLimit(header: ReadHeader): void;
  /** A header that makes a change safe to send again. Empty if the client does not retry. */
  newIdempotencyKey(): Record<string, string>;
  /** Called before each wait for a retry. */
  readonly onRetry: OnRetry | undefined;
  /** Measures the progress of a body. The page has none: it sends files with XMLHttpRequest. */
  readonly streamBody: typeof streamBody | undefined;
}

type ReadHeader = (name: string) => string | null;

interface TransportOptions extends Partial<Pick<Transport, 'timeouts' | 'onRetry' | 'streamBody'>> {
  url: string;
  apiKey: string | undefined;
  /** Retries temporary failures, if the client is configured to. */
  withRetry: Retry;
  /** Default: requests have no key. */
  newIdempotencyKey?: Transport['newIdempotencyKey'] | undefined;
}

export function createTransport(options: TransportOptions): Transport {
  const { url, apiKey, newIdempotencyKey = () => ({}), withRetry, timeouts, onRetry, streamBody } = options;
  let rateLimit: RateLimit | undefined;

  /** A stream can be read only once. */
  const retried = <T>(call: Call, attempt: () => Promise<T>) =>
    call.body instanceof ReadableStream ? attempt() : withRetry(attempt, call);

  const transport: Transport = {
    url: url.replace(/\/+$/, ''),
    headers: definedHeaders({ Authorization: apiKey && `Bearer ${apiKey}` }),
    ...{ newIdempotencyKey, timeouts, onRetry, streamBody },

    get rateLimit() {
      return rateLimit;
    },

    recordRateLimit(header) {
      rateLimit = rateLimitIn(header) ?? rateLimit;
    },

    send: (path, call = {}) => retried(call, () => sendOnce(transport, path, call)),

    // The response may be lost in its body, so that a retry includes reading it.
    request: (path, shape, call = {}) =>
      retried(call, async () => {
        const response = await sendOnce(transport, path, call);
        const { status } = response;
        const body = parseBody(status, await textOf(transport, response, call), shape);
        return { status, body, header: (name: string) => response.headers.get(name) };
      }),

    call: async (path, shape, call) => (await transport.request(path, shape, call)).body,
  };
  return transport;
}

async function sendOnce(transport: Transport, path: string, call: Call): Promise<Response> {
  const json = call.json === undefined ? undefined : JSON.stringify(call.json);
  const silence = transport.timeouts?.watch(call, json?.length ?? 0);
  const body = call.sendBody ? undefined : call.body && transport.streamBody?.(call.body, silence, call.onProgress);
  try {
    return await fetchResponse(transport, path, call, json, body, silence);
  } catch (error) {
    body?.stop(error);
    throw error;
  } finally {
    silence?.stop();
  }
}

async function fetchResponse(
  transport: Transport,
  path: string,
  call: Call,
  json: string | undefined,
  body: Measured | undefined,
  silence: SilenceLimit | undefined,
): Promise<Response> {
  const { method = 'GET', omitsApiKey, signal, reload, acceptedStatus } = call;
  const url = transport.url + path;
  const headers = definedHeaders({
    'Content-Type': json && 'application/json',
    // Otherwise fetch sends a stream in chunks, of which the server does not know the size.
    'Content-Length': body && call.body instanceof Blob ? String(call.body.size) : undefined,
    ...call.headers,
  });
  const init = {
    method,
    headers: { ...(!omitsApiKey && transport.headers), ...headers },
    body: json ?? body?.stream ?? call.body ?? null,
    // Required for streams where they are supported, ignored elsewhere.
    duplex: 'half' as const,
    ...(reload && { cache: 'reload' as const }),
    signal: silence?.signal ?? signal ?? null,
  };
  const onBytes = (sent?: number) => {
    silence?.onBytes();
    if (sent !== undefined) call.onProgress?.(sent);
  };
  const fetched =
    call.sendBody?.(url, init, onBytes) ??
    fetchFromOrigin(url, init).catch((cause) => {
      if (signal?.aborted) throw signal.reason;
      throw silence?.isExceeded() ? silence.signal.reason : (body?.failure() ?? connectionError(cause, transport.url));
    });
  const response = await fetched;
  silence?.stop();
  const header = (name: string) => response.headers.get(name);
  transport.recordRateLimit(header);
  if (response.ok || response.status === acceptedStatus) return response;
  throw errorFrom(response.status, await textOf(transport, response, call), header);
}

/** The connection may break within a response, and the call may be aborted. */
function textOf(transport: Transport, response: Response, call: Call): Promise<string> {
  return readBounded(transport, response, call).catch((cause) => {
    throw call.signal?.aborted ? call.signal.reason : connectionError(cause, transport.url);
  });
}

/** A malicious server may send an endless response. */
async function readBounded({ timeouts }: Transport, response: Response, call: Call): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const read = () => {
    const next = reader?.read();
    return next && timeouts ? timeouts.next(call, next, async () => reader?.cancel()) : next;
  };
  let text = '';
  let bytes = 0;
  for (let next = await read(); next && !next.done; next = await read()) {
    bytes += next.value.byteLength;
    if (bytes > maxJsonBytes) {
      await reader?.cancel();
      throw unexpectedResponse(response.status);
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return text + decoder.decode();
}

/** Captive portals, for example, answer every request with 200 and HTML. */
function parseBody<T>(status: number, text: string, isValid: Shape<T>): T {
  const body = parseJson(text);
  if (!isValid(body)) throw unexpectedResponse(status);
  return body;
}

/** Drops headers without a value. */
export const definedHeaders = (headers: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<string, string>;

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Follows redirects of reads within the origin only: `fetch` would send the PIN to another. Browsers follow none. */
async function fetchFromOrigin(url: string, init: RequestInit): Promise<Response> {
  let address = url;
  for (let count = 0; ; count++) {
    const response = await fetch(address, { ...init, redirect: 'manual' });
    if (response.type !== 'opaqueredirect' && !redirects.has(response.status)) return response;
    const location = response.headers.get('Location');
    const target = location && URL.canParse(location, address) ? new URL(location, address) : undefined;
    await response.body?.cancel();
    const isFollowed = init.method === 'GET' && target?.origin === new URL(url).origin && count < maxRedirects;
    if (!isFollowed) throw redirectError(response.status, target);
    address = target.href;
  }
}

/** The limit of requests in the current window, from the last response. */
export interface RateLimit {
  limit: number;
  remaining: number;
  /** When the window ends, by the clock of this device. */
  resetAt: Date;
}

/** Undefined if the server has no limit. Uses the relative time, because the two clocks may differ. */
export function rateLimitIn(header: ReadHeader): RateLimit | undefined {
  const [limit] = /^\d{1,15}$/.exec(header('X-RateLimit-Limit') ?? '') ?? [];
  const [, remaining, seconds] = /;r=(\d{1,15});t=(\d{1,9})(?!\d)/.exec(header('RateLimit') ?? '') ?? [];
  if (limit === undefined || remaining === undefined) return undefined;
  return { limit: Number(limit), remaining: Number(remaining), resetAt: new Date(Date.now() + Number(seconds) * 1000) };
}
