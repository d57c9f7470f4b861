/** Requests to the server: what all of them carry, and how an answer becomes a value or an error. */
import { errorFrom, notItsOwn, unreachable } from './error.ts';
import { type RateLimit, rateLimitIn } from './rate-limit.ts';

export interface Call {
  method?: string;
  json?: unknown;
  headers?: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal | undefined;
}

export interface Wire {
  /** Without a slash at its end. */
  readonly url: string;
  readonly rateLimit: RateLimit | undefined;
  call<T>(path: string, call?: Call): Promise<T>;
  /** What a response says of the limits; those of requests that do not go through `call` too. */
  note(header: (name: string) => string | null): void;
}

export function createWire(url: string): Wire {
  let rateLimit: RateLimit | undefined;

  return {
    url: url.replace(/\/+$/, ''),

    get rateLimit() {
      return rateLimit;
    },

    note(header) {
      rateLimit = rateLimitIn(header);
    },

    async call<T>(path: string, { method = 'GET', json, headers, signal }: Call = {}): Promise<T> {
      const type = json === undefined ? undefined : 'application/json';
      const response = await fetch(this.url + path, {
        method,
        headers: given({ ...headers, 'Content-Type': type }),
        body: json === undefined ? null : JSON.stringify(json),
        signal: signal ?? null,
      }).catch((cause) => {
        throw signal?.aborted ? signal.reason : unreachable(cause);
      });
      this.note((name) => response.headers.get(name));
      const text = await response.text();
      if (!response.ok) throw errorFrom(response.status, text, response.headers.get('Retry-After'));
      return parseAnswer<T>(response.status, text);
    },
  };
}

/** A captive portal says 200 to everything, in HTML. */
export function parseAnswer<T>(status: number, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw notItsOwn(status, { cause });
  }
}

/** Headers that have a value. */
export function given(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
