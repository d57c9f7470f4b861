/** The admin interface: records activity, enforces blocks, and checks the token of operators. */
import type { BlockList } from 'node:net';
import { createActivity, createAdmin, createBlocks } from '../../core/admin/admin.ts';
import { counted, PoproomError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/basics.ts';
import type { Quota, RateCounter } from '../../core/ports/clients.ts';
import type { Store } from '../../core/ports/store.ts';
import { secondsUntil } from '../../core/timestamp.ts';
import { createRoomHandles } from '../../core/tokens.ts';
import { bearerOf, isSameToken } from '../request/authorize.ts';
import type { Request } from '../request/request.ts';
import { createConnections } from './connection-use.ts';

interface AdminDeps extends Pick<Parameters<typeof createAdmin>[0], 'rooms' | 'hashClient' | 'clock' | 'log'> {
  token: string;
  store: Store;
  /** Keys the handles of rooms. */
  secret: string;
  /** The number of live channels on this node. */
  channels: () => number;
  trustedProxies: BlockList;
  blockCheckMs: number;
  maxBlocks: number;
  activityReportMs: number;
}

export function startAdmin(deps: AdminDeps) {
  const { store, rooms, channels, hashClient, trustedProxies, clock, log } = deps;
  const blocks = createBlocks({ store: store.blocks, clock, everyMs: deps.blockCheckMs, maximum: deps.maxBlocks });
  const gauges = async () => {
    const [rooms, { stored }] = await Promise.all([store.rooms.countRooms(clock()), store.storage.usage()]);
    return { rooms, channels: channels(), storedBytes: stored };
  };
  const activity = createActivity({ store: store.activity, gauges, clock, everyMs: deps.activityReportMs });
  const handles = createRoomHandles(deps.secret);
  const admin = createAdmin({ store, rooms, activity, blocks, handles, hashClient, clock, log });
  const connections = createConnections({ activity, blocks, trustedProxies });
  const checkToken = createTokenCheck(deps.token, store.rates, clock);
  return {
    /** What the admin endpoints use. */
    operations: { admin, checkToken, addressOf: connections.addressOf, clock, log },
    connections,
    /** Resolves when the blocks of addresses are known. Until then, none is enforced. */
    ready: blocks.refresh,
    async stop(): Promise<void> {
      blocks.stop();
      await activity.stop();
    },
  };
}

export type AdminOperations = ReturnType<typeof startAdmin>['operations'];

/** Per client, on all nodes. The token itself always works: others behind the same address cannot lock out the operator. */
const wrongTokens: Quota = { tier: 'free', limit: 10, windowMs: 3600_000 };

/** Rejects a request without the token, and limits how often a client can guess it. */
function createTokenCheck(token: string, rates: RateCounter, clock: Clock) {
  return async ({ raw, client }: Pick<Request, 'raw' | 'client'>): Promise<void> => {
    const given = bearerOf(raw);
    // Without a token there is nothing to guess.
    if (!given) throw wrongToken();
    if (isSameToken(given, token)) return;
    const now = clock();
    // With the prefix of an API key, it never shares a counter with its network.
    const { granted, resetAt } = await rates.take(`key:#admin ${client}`, wrongTokens, now);
    throw granted ? wrongToken() : tooManyWrong(secondsUntil(resetAt, now));
  };
}

function wrongToken(): PoproomError {
  const message = 'The admin token is missing or wrong. Send it as Authorization: Bearer TOKEN.';
  return new PoproomError('INVALID_ADMIN_TOKEN', message);
}

function tooManyWrong(retryAfter: number): PoproomError {
  const message = `Too many wrong admin tokens. Try again in ${counted(Math.ceil(retryAfter / 60), 'minute')}.`;
  const details = { reason: 'misses', retryAfter, limit: wrongTokens.limit };
  return new PoproomError('RATE_LIMITED', message, { retryAfter, details });
}
