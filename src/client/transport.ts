/** Requests to the server: what all of them carry, and how an answer becomes a value or an error. */
import { errorFrom, notItsOwn, PoproomError, unreachable } from './error.ts';
import { maxJsonBytes, parseJson } from './json.ts';
import { type RateLimit, rateLimitIn } from './rate-limit.ts';
import { type Attempt, createPersistence, type RetryOptions } from './retry.ts';
import { fetchFromOrigin } from './same-origin.ts';
import type { Shape } from './shapes.ts';
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
  /** Sends no key, where none is needed. */
  isAnonymous?: boolean;
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
  /** The response of a success; anything else is thrown. */
  send(path: string, call?: Call): Promise<Response>;
  /** The body of a success, with its headers. One of another shape is an error. */
  ask<T>(path: string, shape: Shape<T>, call?: Call): Promise<Answer<T>>;
  /** The body alone. */
  call<T>(path: string, shape: Shape<T>, call?: Call): Promise<T>;
  /** What a response says of the limits; those of requests that do not go through `send` too. */
  note(header: (name: string) => string | null): void;
  /** Tries again what is refused for a while, if the client was made to. */
  persist<T>(attempt: () => Promise<T>, what: Attempt): Promise<T>;
}

export interface Answer<T> {
  status: number;
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

    async ask(path, shape, call = {}) {
      const response = await wire.send(path, call);
      const { status } = response;
      const body = parseAnswer(status, await textOf(response, call.signal), shape);
      return { status, body, header: (name) => response.headers.get(name) };
    },

    call: async (path, shape, call) => (await wire.ask(path, shape, call)).body,
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
  const { method = 'GET', json, headers, isAnonymous, signal, answeredBy } = call;
  const type = json === undefined ? undefined : 'application/json';
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers: { ...(!isAnonymous && wire.headers), ...given({ 'Content-Type': type, ...headers }) },
    body: json === undefined ? (body?.stream ?? null) : JSON.stringify(json),
    // Those that can send a stream ask for it, to the others it says nothing.
    duplex: 'half',
    signal: signal ?? null,
  };
  const response = await fetchFromOrigin(wire.url + path, init).catch((cause) => {
    throw signal?.aborted ? signal.reason : (body?.failure ?? toPoproomError(cause));
  });
  const header = (name: string) => response.headers.get(name);
  wire.note(header);
  if (response.ok || response.status === answeredBy) return response;
  throw errorFrom(response.status, await textOf(response, signal), header);
}

const streamed = (body: Blob | ReadableStream<Uint8Array>, onProgress: Call['onProgress']) =>
  measure(body instanceof Blob ? body.stream() : body, onProgress);

const toPoproomError = (cause: unknown) => (cause instanceof PoproomError ? cause : unreachable(cause));

/** The line may break within an answer, and the call may be called off. */
function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  return boundedText(response).catch((cause) => {
    throw signal?.aborted ? signal.reason : toPoproomError(cause);
  });
}

/** A server may send without end. */
async function boundedText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    bytes += next.value.byteLength;
    if (bytes > maxJsonBytes) {
      await reader?.cancel();
      throw notItsOwn(response.status);
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return text + decoder.decode();
}

/** A captive portal says 200 to everything, in HTML. */
export function parseAnswer<T>(status: number, text: string, isValid: Shape<T>): T {
  const answer = parseJson(text);
  if (!isValid(answer)) throw notItsOwn(status);
  return answer;
}

/** Headers that have a value. */
export function given(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
