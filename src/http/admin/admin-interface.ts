/** The admin interface: records activity, enforces blocks, and checks the token of operators. */

import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Activity, type Blocks, createActivity, createAdmin, createBlocks } from '../../core/admin/admin.ts';
import { counted, PoproomError } from '../../core/errors.ts';
import type { AddressBlock } from '../../core/ports/admin.ts';
import type { ClientId, Clock } from '../../core/ports/basics.ts';
import type { Quota, RateCounter } from '../../core/ports/clients.ts';
import type { Store } from '../../core/ports/store.ts';
import { secondsUntil, toTimestamp } from '../../core/timestamp.ts';
import { createRoomHandles } from '../../core/tokens.ts';
import { bearerOf, isSameToken } from '../request/authorize.ts';
import { fullAddress, groupsOf, type Request } from '../request/request.ts';
import type { Answered } from '../response/send.ts';

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
  const connections = createConnections(activity, blocks, trustedProxies);
  const checkToken = createTokenCheck(deps.token, store.rates, clock);
  return {
    /** For the admin endpoints. */
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

/** The current client of a connection, and the bytes that have been counted. Stored on the socket itself. */
interface Use {
  /** Undefined if the connection stays open when its address is blocked. */
  address: string | undefined;
  client: ClientId | undefined;
  received: number;
  sent: number;
}

const use = Symbol('use of the connection');
type UsedSocket = Duplex & { [use]?: Use; bytesRead?: number; bytesWritten?: number };

/** Load balancers and monitoring send these often. They are neither refused nor counted. */
const probes: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

const isAdminApi = (route: string) => route.startsWith('/api/admin/');

export type Connections = ReturnType<typeof createConnections>;

/**
 * Records the client of each open connection and how many bytes it has transferred. Requests of blocked addresses are
 * refused before any work, and their open connections are closed. Blocks are ranges of addresses.
 */
function createConnections(activity: Activity, blocks: Blocks, trustedProxies: BlockList) {
  const sockets = new Set<UsedSocket>();
  let blocked = compile([]);

  function onClose(this: UsedSocket): void {
    sockets.delete(this);
    const client = this[use]?.client;
    if (client !== undefined) activity.note({ ...nothing, client, ...bytesSince(this) });
  }

  function usedBy(raw: IncomingMessage, address: string | undefined): UsedSocket {
    const socket = raw.socket as UsedSocket;
    if (socket[use]) socket[use].address = address;
    else {
      socket[use] = { address, client: undefined, received: 0, sent: 0 };
      if (!socket.destroyed) sockets.add(socket.on('close', onClose));
    }
    return socket;
  }

  blocks.onChange((list) => {
    blocked = compile(list);
    for (const socket of sockets) {
      const address = socket[use]?.address;
      if (address !== undefined && blocked.check(address)) socket.destroy();
    }
  });

  const addressOf = (raw: IncomingMessage) => fullAddress(raw, trustedProxies);

  return {
    addressOf,

    /** Call this at the start of a request. Throws if its address is blocked. */
    begin(raw: IncomingMessage, route: string): void {
      if (probes.has(route)) return;
      // An operator can undo every block: these endpoints need the token, and count wrong ones.
      if (isAdminApi(route)) return void usedBy(raw, undefined);
      const address = addressOf(raw);
      if (blocked.check(address)) throw refusal(blocked.ranges, address);
      usedBy(raw, address);
    },

    /** Call this after the response. */
    answered(raw: IncomingMessage, { client, method, route, status }: Answered): void {
      if (probes.has(route) || (isAdminApi(route) && status < 400)) return;
      const socket = usedBy(raw, isAdminApi(route) ? undefined : addressOf(raw));
      (socket[use] as Use).client = client;
      activity.note({
        client,
        requests: 1,
        refused: status >= 400 && status < 500 ? 1 : 0,
        failed: status >= 500 ? 1 : 0,
        roomsCreated: status === 201 && method === 'POST' && route === '/api/rooms' ? 1 : 0,
        ...bytesSince(socket),
      });
    },
  };
}

const nothing = { requests: 0, refused: 0, failed: 0, roomsCreated: 0 };

/** The bytes of a connection that have not been counted yet. */
function bytesSince(socket: UsedSocket): { received: number; sent: number } {
  const { [use]: counted, bytesRead = 0, bytesWritten = 0 } = socket;
  if (!counted) return { received: 0, sent: 0 };
  const more = { received: Math.max(0, bytesRead - counted.received), sent: Math.max(0, bytesWritten - counted.sent) };
  counted.received = bytesRead;
  counted.sent = bytesWritten;
  return more;
}

type BlockedRanges = ReturnType<typeof compile>;

function compile(blocks: readonly AddressBlock[]) {
  const ranges = blocks.flatMap(({ range, endsAt }) => {
    const parsed = parseRange(range);
    return parsed ? [{ ...parsed, endsAt }] : [];
  });
  return { ranges, check: createMatcher(ranges) };
}

function refusal(ranges: BlockedRanges['ranges'], address: string): PoproomError {
  const ends = ranges.filter((range) => createMatcher([range])(address)).map(({ endsAt }) => endsAt);
  const until = ends.every((end) => end !== undefined) ? Math.max(...ends) : undefined;
  const details = until === undefined ? {} : { details: { until: toTimestamp(until) } };
  return new PoproomError('ADDRESS_BLOCKED', 'The operator of this server has blocked your address.', details);
}

export interface AddressRange {
  /** The first address, with all other bits 0. */
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

/** Parses `198.51.100.7`, `198.51.100.0/24` or the same of IPv6; undefined if it is none of these. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', length] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const prefix = length === undefined ? bits : Number(length);
  if (version === 0 || prefix > bits) return undefined;
  const unmapped = version === 6 ? unmap(address, prefix) : undefined;
  if (unmapped) return unmapped;
  const parts = version === 6 ? groupsOf(hexIPv6(address)).map((group) => Number.parseInt(group, 16)) : octets(address);
  const size = version === 6 ? 16 : 8;
  const masked = parts.map((part, i) => part & maskOf(prefix - i * size, size));
  if (version === 4) return { address: masked.join('.'), prefix, family: 'ipv4' };
  const written = masked.map((group) => group.toString(16)).join(':');
  return { address: hexIPv6(written), prefix, family: 'ipv6' };
}

export const formatRange = ({ address, prefix }: AddressRange): string => `${address}/${prefix}`;

/** Whether one of the ranges contains an address. `::/0` does not contain IPv4 addresses. */
export function createMatcher(ranges: readonly AddressRange[]): (address: string) => boolean {
  if (ranges.length === 0) return () => false;
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { address, prefix, family } of ranges) lists[family].addSubnet(address, prefix, family);
  return (address) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    return lists[family].check(address, family);
  };
}

/** Whether the range contains this machine as it reaches itself. */
export function containsLoopback(range: AddressRange): boolean {
  const isIn = createMatcher([range]);
  return createMatcher(loopback)(range.address) || isIn('127.0.0.1') || isIn('::1');
}

const loopback: AddressRange[] = [
  { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
  { address: '::1', prefix: 128, family: 'ipv6' },
];

const octets = (address: string) => address.split('.').map(Number);

/** `::ffff:198.51.100.0/120` is `198.51.100.0/24`: clients with such addresses count as IPv4. */
function unmap(address: string, prefix: number): AddressRange | undefined {
  const [, ipv4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(new SocketAddress({ address, family: 'ipv6' }).address) ?? [];
  return ipv4 === undefined || prefix < 96 ? undefined : parseRange(`${ipv4}/${prefix - 96}`);
}

/** The shortest form, without a part in dotted decimals. */
const hexIPv6 = (address: string) => new URL(`http://[${address}]/`).hostname.slice(1, -1);

/** A mask of `size` bits, of which the first `bits` are set. */
function maskOf(bits: number, size: number): number {
  const set = Math.min(Math.max(bits, 0), size);
  return ((2 ** set - 1) * 2 ** (size - set)) >>> 0;
}
