/** The right to create rooms: everyone has it, or only clients with an API key, a password or a user of a proxy. */
import { createHmac, hash } from 'node:crypto';
import type { CreationMode } from '../protocol/limits.ts';
import { lockedOut } from './admission.ts';
import { PoproomError } from './errors.ts';
import type { ClientId, Clock, CreatedBy } from './ports/basics.ts';
import type { Quota, RateCounter } from './ports/clients.ts';
import { areEqual } from './tokens.ts';

/** A request for a new room, or for a token. */
export interface Applicant {
  client: ClientId;
  /** Whether a page of another site sent it. */
  isCrossSite: boolean;
  /** The name of its API key, if it has one. */
  keyName: string | undefined;
  /** The user that a trusted proxy named. */
  user: string | undefined;
  /** The password, or a token that stands for it. */
  password: string | undefined;
}

interface CreationDeps {
  mode: CreationMode;
  /** Set if the mode is `password`. */
  password: string | undefined;
  secret: string;
  rates: RateCounter;
  clock: Clock;
}

export type Creation = ReturnType<typeof createCreation>;

type Guesser = Pick<Applicant, 'client' | 'isCrossSite'>;

const second = 1000;
const hour = 3600 * second;
const tokenTtlSeconds = 30 * 86_400;
const tokenFormat = /^popc\.([0-9a-z]{1,8})\.([\w-]{43})$/;

/** Wrong passwords. As for PINs, the limit of all clients does not apply to those that gave the right one. */
const limitsOfClient: Record<string, Quota> = {
  minute: { tier: 'free', limit: 5, windowMs: 60 * second },
  hour: { tier: 'free', limit: 20, windowMs: hour },
};
const limitOfAll: Quota = { tier: 'free', limit: 50, windowMs: hour };
/** Of each node. */
const maxTrusted = 1000;

export function createCreation({ mode, password, secret, rates, clock }: CreationDeps) {
  /** Clients that gave the right password, least recent first. */
  const trusted = new Set<ClientId>();

  function trust(client: ClientId): void {
    trusted.delete(client);
    trusted.add(client);
    if (trusted.size > maxTrusted) trusted.delete(trusted.values().next().value as ClientId);
  }

  /** Depends on the password, so a token becomes invalid when the password changes. */
  const sign = (expiry: string) =>
    createHmac('sha256', secret)
      .update(`create token\n${expiry}\n${password ?? ''}`)
      .digest('base64url');

  /** Nobody can guess a token, so a wrong one does not count. It is one of an earlier password, or has expired. */
  const isValidToken = ([, expiry = '', signature = '']: RegExpExecArray): boolean =>
    areEqual(signature, sign(expiry)) && Number.parseInt(expiry, 36) * second > clock();

  /** Counts a wrong password in the step that checks the limit: concurrent attempts reveal no more than it allows. */
  async function checkPassword(guesser: Guesser, given: string): Promise<void> {
    // Compares hashes, so that the time reveals nothing about the password.
    const isRight = password !== undefined && areEqual(hash('sha256', given), hash('sha256', password));
    const now = clock();
    const count = isRight ? rates.peek : rates.take;
    for (const [counter, quota] of countersOf(guesser, trusted.has(guesser.client))) {
      const { granted, remaining, resetAt } = await count(counter, quota, now);
      if (isRight ? remaining === 0 : !granted)
        throw lockedOut('RATE_LIMITED', 'Too many wrong passwords', resetAt, now);
    }
    if (!isRight) throw new PoproomError('PASSWORD_INCORRECT', 'The password for creating rooms is wrong.');
    trust(guesser.client);
  }

  async function requirePassword(applicant: Applicant): Promise<undefined> {
    const { password: given } = applicant;
    if (given === undefined) throw passwordRequired();
    const token = tokenFormat.exec(given);
    if (!token) return checkPassword(applicant, given) as Promise<undefined>;
    if (!isValidToken(token)) throw passwordRequired();
  }

  return {
    /** Returns the creator to show to operators; undefined if it has no name. Rejects clients without the right. */
    async authorize(applicant: Applicant): Promise<CreatedBy | undefined> {
      const { keyName, user, isCrossSite } = applicant;
      if (keyName !== undefined) return `key:${keyName}`;
      if (mode === 'key') throw keyRequired();
      if (mode === 'password') return requirePassword(applicant);
      if (mode !== 'proxy') return undefined;
      // The browser of a visitor sends its cookies to the proxy, whatever page sends the request.
      if (user === undefined || isCrossSite)
        throw new PoproomError('SIGN_IN_REQUIRED', 'Only users who have signed in may create rooms on this server.');
      return `user:${user}`;
    },

    /** Exchanges the password for a token, which a device can keep instead. */
    async issueToken(guesser: Guesser, given: string) {
      if (mode !== 'password') throw new PoproomError('NOT_FOUND', 'This server has no password for creating rooms.');
      await checkPassword(guesser, given);
      const expiresAt = Math.floor(clock() / second) + tokenTtlSeconds;
      const expiry = expiresAt.toString(36);
      return { token: `popc.${expiry}.${sign(expiry)}`, expiresAt: expiresAt * second };
    },
  };
}

/** With the prefix of an API key, a counter is never shared with a network. Cross-site requests lock out nobody else. */
function countersOf({ client, isCrossSite }: Guesser, isTrusted: boolean): [counter: ClientId, quota: Quota][] {
  const guesser = isCrossSite ? `${client}#cross-site` : client;
  const quotas = Object.entries(limitsOfClient);
  const own = quotas.map(([name, quota]): [ClientId, Quota] => [`key:#create ${name} ${guesser}`, quota]);
  return isCrossSite || isTrusted ? own : [...own, ['key:#create all', limitOfAll]];
}

function passwordRequired(): PoproomError {
  const wayIn = 'Send it, or a token from /api/create-token, as X-Create-Password.';
  return new PoproomError('PASSWORD_REQUIRED', `This server requires a password for creating rooms. ${wayIn}`);
}

function keyRequired(): PoproomError {
  const message = 'Only clients with an API key may create rooms on this server. Send it as Authorization: Bearer KEY.';
  return new PoproomError('API_KEY_REQUIRED', message);
}
