/** Requests to the server: what all of them carry, and how an answer becomes a value or an error. */
import { errorFrom, isObject, notItsOwn, unreachable } from './error.ts';
import { type RateLimit, rateLimitIn } from './rate-limit.ts';
import { type Attempt, createPersistence, type RetryOptions } from './retry.ts';
import { type Measured, measure } from './upload-source.ts';

export interface CallOptions {
  /** Calls it off. */
  signal?: AbortSignal | undefined;
}

export interface Call extends CallOptions {
  method?: string;
  json?: unknown;
  body?: Blob | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string | undefined>>;
  /** A status that is an answer too, and no failure. */
  answeredBy?: number;
  /** Told of the bytes of the body that were taken. */
  onProgress?: ((sent: number) => void) | undefined;
}

export interface Wire {
  /** Without a slash at its end. */
  readonly url: string;
  readonly rateLimit: RateLimit | undefined;
  /** What every request carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** The response of a success; anything else is thrown. The path may be a whole address. */
  send(path: string, call?: Call): Promise<Response>;
  /** The body of a success, with its headers. */
  ask<T>(path: string, call?: Call): Promise<Answer<T>>;
  /** The body alone. */
  call<T>(path: string, call?: Call): Promise<T>;
  /** What a response says of the limits; those of requests that do not go through `send` too. */
  note(header: (name: string) => string | null): void;
  /** Tries again what is refused for a while, if the client was made to. */
  persist<T>(attempt: () => Promise<T>, what: Attempt): Promise<T>;
}

export interface Answer<T> {
  body: T;
  header(name: string): string | null;
}

export interface WireOptions {
  url: string;
  apiKey: string | undefined;
  retry: RetryOptions | undefined;
}

export function createWire({ url, apiKey, retry }: WireOptions): Wire {
  let rateLimit: RateLimit | undefined;

  const wire: Wire = {
    url: url.replace(/\/+$/, ''),
    headers: given({ Authorization: apiKey && `Bearer ${apiKey}` }),
    persist: createPersistence(retry),

    get rateLimit() {
      return rateLimit;
    },

    note(header) {
      rateLimit = rateLimitIn(header) ?? rateLimit;
    },

    send(path, call = {}) {
      const attempt = () => request(wire, path, call);
      // A stream can be read only once.
      return call.body instanceof ReadableStream ? attempt() : wire.persist(attempt, call);
    },

    async ask<T>(path: string, call: Call = {}): Promise<Answer<T>> {
      const response = await wire.send(path, call);
      const body = parseAnswer<T>(response.status, await textOf(response, call.signal));
      return { body, header: (name) => response.headers.get(name) };
    },

    call: async <T>(path: string, call?: Call) => (await wire.ask<T>(path, call)).body,
  };
  return wire;
}

async function request(wire: Wire, path: string, call: Call): Promise<Response> {
  const body = call.body && streamed(call.body, call.onProgress);
  try {
    return await exchange(wire, path, call, body);
  } catch (error) {
    body?.stop(error);
    throw error;
  }
}

async function exchange(wire: Wire, path: string, call: Call, body: Measured | undefined): Promise<Response> {
  const { method = 'GET', json, headers, signal, answeredBy } = call;
  const type = json === undefined ? undefined : 'application/json';
  const isOwn = path.startsWith('/');
  const init: RequestInit & { duplex: 'half' } = {
    method,
    // A file may be kept elsewhere, and its address alone is the right to read it: the key is not for others.
    headers: { ...(isOwn && wire.headers), ...given({ 'Content-Type': type, ...headers }) },
    body: json === undefined ? (body?.stream ?? null) : JSON.stringify(json),
    // Those that can send a stream ask for it, to the others it says nothing.
    duplex: 'half',
    signal: signal ?? null,
  };
  const response = await fetch(isOwn ? wire.url + path : path, init).catch((cause) => {
    throw signal?.aborted ? signal.reason : (body?.failure ?? unreachable(cause));
  });
  const header = (name: string) => response.headers.get(name);
  wire.note(header);
  if (response.ok || response.status === answeredBy) return response;
  throw errorFrom(response.status, await textOf(response, signal), header);
}

const streamed = (body: Blob | ReadableStream<Uint8Array>, onProgress: Call['onProgress']) =>
  measure(body instanceof Blob ? body.stream() : body, onProgress);

/** The line may break within an answer, and the call may be called off. */
function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  return response.text().catch((cause) => {
    throw signal?.aborted ? signal.reason : unreachable(cause);
  });
}

/** A captive portal says 200 to everything, in HTML. */
export function parseAnswer<T>(status: number, text: string): T {
  const answer = parsed(text);
  if (!isObject(answer)) throw notItsOwn(status);
  return answer as T;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Headers that have a value. */
export function given(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
