/**
 * Moves the expiry of a room. Its place among all rooms, the indexes of its files and the charges of its bytes are on
 * other nodes of a cluster, so no script can change all of them with the room. Each of these steps can be repeated, and
 * the order of them ensures that nothing ends before its room and that the sweep finds the room in time: a sweep that
 * comes too early finds that the room has not expired, and puts it back.
 */
import type { Owner } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { keepIndex } from './file-index.ts';
import { parseFile } from './file-list.ts';
import { type Keys, netMs } from './keys.ts';
import type { RedisStorage } from './storage.ts';
import { textName } from './text-charges.ts';
import * as scripts from './update-scripts.ts';

export interface RoomExpiry {
  /** Before the room changes. */
  prepare(code: RoomCode, expiresAt: number, now: number): Promise<void>;
  /** After the room has changed, or was found unchanged. Another change may run at the same time. */
  settle(code: RoomCode, now: number): Promise<void>;
  /** Lists a room for the sweep that took it too early. */
  putBack(code: RoomCode, expiresAt: number, now: number): Promise<void>;
}

interface Holdings {
  expiresAt: number;
  fileIds: string[];
  charges: { blob: string; owner: Owner }[];
}

/** Each repetition means that the expiry was changed again. */
const maxRepetitions = 10;

export function createRoomExpiry(redis: Redis, keys: Keys, storage: Pick<RedisStorage, 'moveCharges'>): RoomExpiry {
  const zadd = (...options: string[]) => redis.send(keys.rooms, ['ZADD', keys.rooms, ...options]);

  async function readHoldings(code: RoomCode): Promise<Holdings | undefined> {
    const { room, files, removed, uploads } = keys.ofRoom(code);
    const reply = await redis.run(scripts.readHoldings, [room, files, removed, uploads]);
    return reply === null ? undefined : holdingsOf(code, reply as HoldingsReply);
  }

  async function keepUntil({ fileIds, charges }: Holdings, expiresAt: number, now: number): Promise<void> {
    await Promise.all(fileIds.map((id) => keepIndex(redis, keys, id, expiresAt - now + netMs)));
    await storage.moveCharges(charges, expiresAt, now);
  }

  async function settle(code: RoomCode, now: number): Promise<void> {
    let settled: number | undefined;
    for (let repetitions = 0; repetitions < maxRepetitions; repetitions++) {
      const held = await readHoldings(code);
      if (!held || held.expiresAt === settled) return;
      await zadd('XX', String(held.expiresAt), code);
      await keepUntil(held, held.expiresAt, now);
      settled = held.expiresAt;
    }
  }

  return {
    async prepare(code, expiresAt, now) {
      const held = await readHoldings(code);
      if (!held) return;
      if (expiresAt > held.expiresAt) await keepUntil(held, expiresAt, now);
      else await zadd('XX', 'LT', String(expiresAt), code);
    },

    settle,

    async putBack(code, expiresAt, now) {
      await zadd('NX', String(expiresAt), code);
      await settle(code, now);
    },
  };
}

type HoldingsReply = [room: (string | null)[], files: string[], removed: string[], uploads: string[]];

function holdingsOf(code: RoomCode, [room, ...lists]: HoldingsReply): Holdings {
  const [expiresAt, textCharge, client, network] = room;
  const files = lists.flat().map((entry) => parseFile(entry.slice(entry.indexOf(':') + 1)));
  const charges = files.flatMap(({ blob, owner }) => (owner ? [{ blob, owner }] : []));
  if (client && Number(textCharge) > 0) {
    charges.push({ blob: textName(code), owner: { client, network: network || undefined } });
  }
  return { expiresAt: Number(expiresAt), fileIds: files.map(({ id }) => id), charges };
}
