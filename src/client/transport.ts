/** Sends requests to the server, and turns responses into values or errors. */
import { errorFrom, toPoproomError, unexpectedResponse } from './error.ts';
import { maxJsonBytes, parseJson } from './json.ts';
import { type Measured, measure } from './measured-stream.ts';
import { type RateLimit, rateLimitIn } from './rate-limit.ts';
import type { Retry } from './retry.ts';
import { fetchFromOrigin } from './same-origin.ts';
import type { Shape } from './shapes.ts';
import { createSilenceLimit, type SilenceLimit, withinSeconds } from './silence-limit.ts';

export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
}

export interface Call extends CallOptions {
  method?: string;
  json?: unknown;
  body?: Blob | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string | undefined>>;
  /** Sends the request without the API key. */
  omitsApiKey?: boolean;
  /** A further status that counts as success. */
  acceptedStatus?: number;
  /** Called with the number of bytes of the body that were sent. */
  onProgress?: ((sent: number) => void) | undefined;
}

export interface Transport {
  /** Without a trailing slash. */
  readonly url: string;
  readonly rateLimit: RateLimit | undefined;
  /** The longest silence of the server. Undefined means no limit. */
  readonly timeoutSeconds: number | undefined;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns a successful response, and throws otherwise. */
  send(path: string, call?: Call): Promise<Response>;
  /** Returns the checked body with status and headers. Throws if the body does not have this shape. */
  request<T>(path: string, shape: Shape<T>, call?: Call): Promise<CheckedResponse<T>>;
  /** Returns only the body. */
  call<T>(path: string, shape: Shape<T>, call?: Call): Promise<T>;
  /** Records the rate limit of a response, also for requests that do not use `send`. */
  recordRateLimit(header: (name: string) => string | null): void;
  /** A header that makes a change safe to send again. Empty if the client does not retry. */
  newIdempotencyKey(): Record<string, string>;
  /** Retries temporary failures, if the client is configured to. */
  readonly withRetry: Retry;
}

export interface CheckedResponse<T> {
  status: number;
  body: T;
  header(name: string): string | null;
}

export interface TransportOptions {
  url: string;
  apiKey: string | undefined;
  withRetry: Retry;
  /** Default: requests have no key. */
  newIdempotencyKey?: (() => Record<string, string>) | undefined;
  timeoutSeconds?: number | undefined;
}

export function createTransport(options: TransportOptions): Transport {
  const { url, apiKey, withRetry, newIdempotencyKey = () => ({}), timeoutSeconds } = options;
  let rateLimit: RateLimit | undefined;

  /** A stream can be read only once. */
  const retried = <T>(call: Call, attempt: () => Promise<T>) =>
    call.body instanceof ReadableStream ? attempt() : transport.withRetry(attempt, call);

  const transport: Transport = {
    url: url.replace(/\/+$/, ''),
    headers: definedHeaders({ Authorization: apiKey && `Bearer ${apiKey}` }),
    withRetry,
    newIdempotencyKey,
    timeoutSeconds,

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
        const body = parseBody(status, await textOf(transport, response, call.signal), shape);
        return { status, body, header: (name: string) => response.headers.get(name) };
      }),

    call: async (path, shape, call) => (await transport.request(path, shape, call)).body,
  };
  return transport;
}

async function sendOnce(transport: Transport, path: string, call: Call): Promise<Response> {
  const silence = createSilenceLimit(transport.timeoutSeconds, call.signal);
  const onProgress = (sent: number) => {
    silence.onBytes();
    call.onProgress?.(sent);
  };
  const body = call.body && streamed(call.body, onProgress);
  try {
    return await fetchResponse(transport, path, call, { body, silence });
  } catch (error) {
    body?.stop(error);
    throw error;
  } finally {
    silence.stop();
  }
}

interface Sending {
  body: Measured | undefined;
  silence: SilenceLimit;
}

async function fetchResponse(
  transport: Transport,
  path: string,
  call: Call,
  { body, silence }: Sending,
): Promise<Response> {
  const { method = 'GET', json, headers, omitsApiKey, signal, acceptedStatus } = call;
  const type = json === undefined ? undefined : 'application/json';
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers: { ...(!omitsApiKey && transport.headers), ...definedHeaders({ 'Content-Type': type, ...headers }) },
    body: json === undefined ? (body?.stream ?? null) : JSON.stringify(json),
    // Required for streams where they are supported, ignored elsewhere.
    duplex: 'half',
    signal: silence.signal,
  };
  const response = await fetchFromOrigin(transport.url + path, init).catch((cause) => {
    if (signal?.aborted) throw signal.reason;
    throw silence.isExceeded ? silence.signal?.reason : (body?.failure ?? toPoproomError(cause));
  });
  silence.stop();
  const header = (name: string) => response.headers.get(name);
  transport.recordRateLimit(header);
  if (response.ok || response.status === acceptedStatus) return response;
  throw errorFrom(response.status, await textOf(transport, response, signal), header);
}

const streamed = (body: Blob | ReadableStream<Uint8Array>, onProgress: Call['onProgress']) =>
  measure(body instanceof Blob ? body.stream() : body, onProgress);

/** The connection may break within a response, and the call may be aborted. */
function textOf({ timeoutSeconds }: Transport, response: Response, signal: AbortSignal | undefined): Promise<string> {
  return readBounded(response, timeoutSeconds).catch((cause) => {
    throw signal?.aborted ? signal.reason : toPoproomError(cause);
  });
}

/** A malicious server may send an endless response. */
async function readBounded(response: Response, timeoutSeconds: number | undefined): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const read = () => reader && withinSeconds(timeoutSeconds, reader.read(), () => reader.cancel());
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
export function parseBody<T>(status: number, text: string, isValid: Shape<T>): T {
  const body = parseJson(text);
  if (!isValid(body)) throw unexpectedResponse(status);
  return body;
}

/** Drops headers without a value. */
export function definedHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
