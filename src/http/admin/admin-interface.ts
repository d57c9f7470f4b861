/** The admin interface: records activity, enforces blocks, and checks the token of operators. */
import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { createActivity } from '../../core/admin/activity.ts';
import { type Admin, createAdmin, createBlocks } from '../../core/admin/admin.ts';
import type { ClientHash } from '../../core/clients.ts';
import { PoproomError } from '../../core/errors.ts';
import type { Clock, Log } from '../../core/ports/basics.ts';
import type { Quota, RateCounter } from '../../core/ports/clients.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Rooms } from '../../core/rooms.ts';
import { secondsUntil } from '../../core/timestamp.ts';
import { createRoomHandles } from '../../core/tokens.ts';
import { isSameToken } from '../request/authorize.ts';
import type { Request } from '../request/request.ts';
import { type Connections, createConnections } from './connection-use.ts';

interface AdminDeps {
  token: string;
  store: Store;
  /** Keys the handles of rooms. */
  secret: string;
  rooms: Pick<Rooms, 'end'>;
  /** The number of live channels on this node. */
  channels: () => number;
  hashClient: ClientHash;
  trustedProxies: BlockList;
  clock: Clock;
  log: Log;
  blockCheckMs: number;
  maxBlocks: number;
  activityReportMs: number;
}

interface StartedAdmin {
  operations: AdminOperations;
  connections: Connections;
  /** Resolves when the blocks of addresses are known. Until then, none is enforced. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export function startAdmin(deps: AdminDeps): StartedAdmin {
  const { token, store, secret, rooms, channels, hashClient, trustedProxies, clock, log } = deps;
  const { blockCheckMs, maxBlocks, activityReportMs } = deps;
  const blocks = createBlocks({ store: store.blocks, clock, everyMs: blockCheckMs, maximum: maxBlocks });
  const gauges = async () => {
    const [rooms, { stored }] = await Promise.all([store.rooms.countRooms(clock()), store.storage.usage()]);
    return { rooms, channels: channels(), storedBytes: stored };
  };
  const activity = createActivity({ store: store.activity, gauges, clock, everyMs: activityReportMs });
  const handles = createRoomHandles(secret);
  const admin = createAdmin({ store, rooms, activity, blocks, handles, hashClient, clock, log });
  const connections = createConnections({ activity, blocks, trustedProxies });
  const checkToken = createTokenCheck({ token, rates: store.rates, clock });
  return {
    operations: { admin, checkToken, addressOf: connections.addressOf, clock, log },
    connections,
    ready: blocks.refresh,
    async stop() {
      blocks.stop();
      await activity.stop();
    },
  };
}

/** The operations behind the admin endpoints. They exist only if there is an admin token. */
export interface AdminOperations {
  admin: Admin;
  checkToken: CheckToken;
  /** The full address of the client. */
  addressOf(raw: IncomingMessage): string;
  clock: Clock;
  log: Log;
}

interface TokenDeps {
  token: string;
  rates: RateCounter;
  clock: Clock;
}

/** Rejects a request without the token. */
type CheckToken = (request: Pick<Request, 'raw' | 'client'>) => Promise<void>;

/** Per client, on all nodes. The token itself always works: others behind the same address cannot lock out the operator. */
const wrongTokens: Quota = { tier: 'free', limit: 10, windowMs: 3600_000 };

/** Limits how often a client can guess the token. */
function createTokenCheck({ token, rates, clock }: TokenDeps): CheckToken {
  return async ({ raw, client }) => {
    const given = tokenIn(raw);
    // Without a token there is nothing to guess.
    if (given === undefined) throw wrongToken();
    if (isSameToken(given, token)) return;
    const now = clock();
    const { granted, resetAt } = await rates.take(counterOf(client), wrongTokens, now);
    throw granted ? wrongToken() : tooManyWrong(secondsUntil(resetAt, now));
  };
}

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
