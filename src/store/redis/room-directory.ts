/** The rooms in Redis for the command line, which acts like any other node. */
import type { MissingReason, RoomDirectory, Store } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { createKeys } from './keys.ts';
import { batchSize, createRoomSummaries } from './room-summaries.ts';

export interface RedisDirectoryParts {
  redis: Redis;
  prefix: string;
  store: Pick<Store, 'rooms' | 'archive'>;
  /** Removes rooms like any node. Returns the reason for each missing room. */
  remove: (codes: readonly RoomCode[]) => Promise<(MissingReason | undefined)[]>;
  close(): Promise<void>;
}

export function createRedisDirectory({ redis, prefix, store, remove, close }: RedisDirectoryParts): RoomDirectory {
  const { rooms, archive } = store;

  return {
    ...createRoomSummaries(redis, createKeys(prefix), archive),

    async countDevices(codes, now) {
      const counts: number[] = [];
      for (let i = 0; i < codes.length; i += batchSize) {
        const devices = await Promise.all(codes.slice(i, i + batchSize).map((code) => rooms.listDevices(code, now)));
        counts.push(...devices.map(({ length }) => length));
      }
      return counts;
    },

    async remove(codes) {
      return (await remove(codes)).map((reason) => reason ?? 'removed');
    },

    close,
  };
}
