/** The options of a client, and how it sends requests. */
import { checkClientOptions } from './arguments.ts';
import { createRetry, newIdempotencyKey, type OnRetry, type RetryOptions } from './retry.ts';
import { createTimeouts } from './silence-limit.ts';
import { createTransport, type Transport } from './transport.ts';

export interface ClientOptions {
  /** URL of the server, such as `https://pop.example.org`. */
  url: string;
  /** Sent with every request. Requests then count against the key, not the address. Some servers require one. */
  apiKey?: string | undefined;
  /**
   * The password for creating rooms, if the server requires one, or a token from `POST /api/create-token`. Sent only with
   * the request for a new room.
   */
  createPassword?: string | undefined;
  /** Id of this device: 1 to 64 characters from `A-Za-z0-9_-`. Clients with the same id count as one device. */
  deviceId?: string | undefined;
  /** Name of this device, shown to the other devices in a room. */
  deviceName?: string | undefined;
  /** The colour that this device prefers, from 0 to 7. In each room, the server gives it this one or another. */
  deviceColor?: number | undefined;
  /** Retries requests that fail with 429 or 503, unless that could execute them twice. Default: no retries. */
  retry?: boolean | RetryOptions | undefined;
  /** Called before each wait for a retry, also of uploads and one-time files, which continue after an interruption. */
  onRetry?: OnRetry | undefined;
  /**
   * Fails with `TIMEOUT` if the server neither takes nor sends a byte of a request for this many seconds. 0 or Infinity:
   * no limit. Default: 30.
   */
  timeoutSeconds?: number | undefined;
}

const defaultTimeoutSeconds = 30;

/** Throws a TypeError for wrong options. `streamBody` is for clients that send files. */
export function openTransport(options: ClientOptions, streamBody?: Transport['streamBody']): Transport {
  checkClientOptions({ ...options });
  const { url, apiKey, retry = false, onRetry, timeoutSeconds = defaultTimeoutSeconds } = options;
  const retries = retry === true ? {} : retry || undefined;
  return createTransport({
    ...{ url, apiKey, withRetry: createRetry(retries, onRetry), onRetry, streamBody },
    ...{ newIdempotencyKey: retries && newIdempotencyKey, timeouts: createTimeouts(timeoutSeconds) },
  });
}
