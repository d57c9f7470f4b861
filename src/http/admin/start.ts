/** Creates the admin interface: it records activity, enforces blocks, and serves operators. */
import type { BlockList } from 'node:net';
import { createActivity } from '../../core/admin/activity.ts';
import { createAdmin, createBlocks } from '../../core/admin/admin.ts';
import type { ClientHash } from '../../core/clients.ts';
import type { Clock, Log, Store } from '../../core/ports.ts';
import type { Rooms } from '../../core/rooms.ts';
import { createRoomHandles } from '../../core/tokens.ts';
import { type Connections, createConnections } from './connections.ts';
import type { AdminService } from './service.ts';
import { createTokenCheck } from './token.ts';

export interface AdminOptions {
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

export interface StartedAdmin {
  service: AdminService;
  connections: Connections;
  /** Resolves when the blocks of addresses are known. Until then, none is enforced. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export function startAdmin(options: AdminOptions): StartedAdmin {
  const { token, store, secret, rooms, channels, hashClient, trustedProxies, clock, log } = options;
  const { blockCheckMs, maxBlocks, activityReportMs } = options;
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
    service: { admin, checkToken, addressOf: connections.addressOf, clock, log },
    connections,
    ready: blocks.refresh,
    async stop() {
      blocks.stop();
      await activity.stop();
    },
  };
}
