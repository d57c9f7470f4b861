/** Request ids that are unique across restarts: a random prefix for this run, which is not secret, and a number. */
import type { IncomingMessage } from 'node:http';

/** The id that a proxy or a client gave the request, if it is short and harmless in a log. */
export function givenRequestId({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : undefined;
}

export function createRequestIds(): () => string {
  const run = Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  let number = 0;
  return () => {
    number += 1;
    return `${run}-${number.toString(36)}`;
  };
}
