/** The ids of a request in the log: its own, and that of the trace it belongs to. */
import type { IncomingMessage } from 'node:http';

/** The id that a proxy or a client gave the request, if it is short and harmless in a log. */
export function givenRequestId({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : undefined;
}

/** The trace id of a W3C `traceparent`, for the log; undefined if the header is missing or invalid. */
export function traceIdIn({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const { version, traceId, more } = traceParent.exec(traceparent)?.groups ?? {};
  return version === '00' && more !== undefined ? undefined : traceId;
}

/** Only later versions may have more fields. Version ff is invalid, and so are ids of zeros. */
const traceParent =
  /^(?!ff)(?<version>[\da-f]{2})-(?<traceId>(?!0{32})[\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?<more>-.*)?$/;

/** Unique across restarts: a random prefix for this run, which is not secret, and a number. */
export function createRequestIds(): () => string {
  const run = Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  let number = 0;
  return () => {
    number += 1;
    return `${run}-${number.toString(36)}`;
  };
}
