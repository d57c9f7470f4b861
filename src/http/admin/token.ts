/** Checks the admin token of requests, and limits how often a client can guess it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PoproomError, secondsUntil } from '../../core/errors.ts';
import type { Clock, Quota, RateCounter } from '../../core/ports.ts';
import type { Request } from '../request/request.ts';

export interface TokenDeps {
  token: string;
  rates: RateCounter;
  clock: Clock;
}

/** Rejects a request without the token. */
export type CheckToken = (request: Pick<Request, 'raw' | 'client'>) => Promise<void>;

/** Per client, on all nodes. The token itself always works: others behind the same address cannot lock out the operator. */
export const wrongTokens: Quota = { tier: 'free', limit: 10, windowMs: 3600_000 };

export function createTokenCheck({ token, rates, clock }: TokenDeps): CheckToken {
  const expected = digest(token);
  return async ({ raw, client }) => {
    const given = tokenIn(raw);
    // Without a token there is nothing to guess.
    if (given === undefined) throw wrongToken();
    if (timingSafeEqual(digest(given), expected)) return;
    const now = clock();
    const { granted, resetAt } = await rates.take(counterOf(client), wrongTokens, now);
    throw granted ? wrongToken() : tooManyWrong(secondsUntil(resetAt, now));
  };
}

/** Of equal length for every token, so that the comparison takes the same time. */
const digest = (text: string) => createHash('sha256').update(text).digest();

/** With the prefix of an API key, it never shares a counter with its network. */
const counterOf = (client: string) => `key:#admin ${client}`;

function tokenIn({ headers: { authorization } }: IncomingMessage): string | undefined {
  const [, given] = authorization === undefined ? [] : (/^Bearer +(.*)$/i.exec(authorization) ?? []);
  return given?.trim() || undefined;
}

function wrongToken(): PoproomError {
  return new PoproomError(
    'INVALID_ADMIN_TOKEN',
    'The admin token is missing or wrong. Send it as Authorization: Bearer TOKEN.',
  );
}

function tooManyWrong(retryAfter: number): PoproomError {
  const minutes = Math.ceil(retryAfter / 60);
  return new PoproomError(
    'RATE_LIMITED',
    `Too many wrong admin tokens. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    { retryAfter, details: { reason: 'misses', retryAfter, limit: wrongTokens.limit } },
  );
}
