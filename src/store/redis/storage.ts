/**
 * Bytes of files by owner. The data of a client, of its network and of an upload may be on three nodes of a cluster, so
 * no script can change all of it. The order of the steps ensures consistency:
 *
 * 1. An upload is recorded with a deadline, then charged to its client and its network.
 * 2. When it is stored, the charges are set to its size, the file is added to its room, and the record is dropped. An
 *    upload in several requests is charged and added like a stored file before its first byte.
 * 3. When its bytes are removed, its charges are dropped, and then its entry in the trash.
 *
 * Wherever a node crashes, either the record or the trash entry remains, and the sweep of another node does the rest. A
 * blob is charged under its name, so repeating a step changes nothing.
 */
import type { Owner, StorageAccounts, StorageRequest, StoredFile, TrashStore } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { type ChargedFile, createCharges, type Left, type Upload } from './charges.ts';
import type { Keys } from './keys.ts';
import * as scripts from './storage-scripts.ts';
import { createTextCharges, type TextCharges } from './text-charges.ts';

export interface RedisStorage extends StorageAccounts, TextCharges {
  /** Charges a file with its size, regardless of limits. */
  charge(file: ChargedFile, now: number): Promise<void>;
  discharge(blob: string, owner: Owner): Promise<void>;
  /** Moves the end of charges with the expiry of their room. */
  moveCharges(charged: readonly Upload[], expiresAt: number, now: number): Promise<void>;
  /** Adds a file to its room, charges its size and ends its reservation. `add` returns a string if it is rejected. */
  addCharged<T>(code: RoomCode, file: StoredFile, add: () => Promise<T>): Promise<T>;
}

type KnownBlobs = TrashStore['knownBlobs'];

const batchSize = 100;

export function createStorage(redis: Redis, keys: Keys, knownBlobs: KnownBlobs): RedisStorage {
  const { reservations, reservedBytes } = keys;
  const charges = createCharges(redis, keys);
  const { charge, discharge, leftFor } = charges;
  const textCharges = createTextCharges(redis, keys, charges);

  /** Returns the bytes of all other uploads in progress. */
  async function note({ blob, owner, deadline }: StorageRequest, bytes: number): Promise<number> {
    const args = [memberOf(blob, owner), deadline, bytes];
    return Number(await redis.run(scripts.noteReservation, [reservations, reservedBytes], args));
  }

  async function dropReservation(blob: string, owner: Owner): Promise<void> {
    await redis.run(scripts.dropReservation, [reservations, reservedBytes], [memberOf(blob, owner)]);
  }

  async function storedBytes(): Promise<number> {
    const shards = await Promise.all(
      keys.shards.map((shard) => redis.send(shard.storedBytes, ['GET', shard.storedBytes])),
    );
    return shards.reduce<number>((sum, bytes) => sum + Number(bytes ?? 0), 0);
  }

  async function release({ blob, owner }: Upload): Promise<void> {
    await discharge(blob, owner);
    await dropReservation(blob, owner);
  }

  async function addCharged<T>(code: RoomCode, file: StoredFile, add: () => Promise<T>): Promise<T> {
    const { blob, owner, size, uploadedAt } = file;
    if (!owner) return add();
    const expiresAt = await expiryOf(code);
    // Before it is added: the reservation ends an excess charge, but nothing would add a missing one.
    await charge({ blob, owner, size, expiresAt }, uploadedAt);
    const reply = await add();
    if (typeof reply === 'string') await release({ blob, owner });
    // The file is stored. If this fails, the sweep does it.
    else await dropReservation(blob, owner).catch(() => undefined);
    // A change of the expiry before the file was added has not moved its charge.
    const movedTo = await expiryOf(code).catch(() => expiresAt);
    if (movedTo !== expiresAt) await charges.moveCharges([{ blob, owner }], movedTo, uploadedAt);
    return reply;
  }

  async function expiryOf(code: RoomCode): Promise<number> {
    const { room } = keys.ofRoom(code);
    return Number(await redis.send(room, ['HGET', room, 'expiresAt']));
  }

  /**
   * The rest of the total limit for an upload. Reserved bytes are read before stored ones, so that an upload that ends
   * in between counts twice but is never missing.
   */
  async function leftInTotal(request: StorageRequest, total: number): Promise<Left> {
    const reserved = await note(request, request.most);
    if (total === Number.POSITIVE_INFINITY) return { bytes: request.most, limit: undefined };
    const used = reserved + (await storedBytes());
    const bytes = Math.max(0, Math.min(request.most, total - used));
    const limit = { scope: 'total', used, maximum: total, freesAt: undefined } as const;
    return { bytes, limit: bytes < request.most ? limit : undefined };
  }

  return {
    ...textCharges,

    async reserve(request, limits, now) {
      let left = await leftInTotal(request, limits.total);
      for (const scope of ['client', 'network'] as const) {
        if (isTooLittle(left, request)) break;
        left = await leftFor(request, scope, limits[scope], left, now);
      }
      if (left.limit && isTooLittle(left, request)) {
        await release(request);
        return { outcome: 'refused', limit: left.limit };
      }
      // The network or the total limit may allow less than the client was charged for.
      if (left.bytes < request.most) {
        const { blob, owner, expiresAt } = request;
        await charge({ blob, owner, size: left.bytes, expiresAt }, now);
        await note(request, left.bytes);
      }
      return { outcome: 'granted', ...left };
    },

    async extend({ blob, owner }, deadline) {
      await redis.send(reservations, ['ZADD', reservations, 'XX', String(deadline), memberOf(blob, owner)]);
    },

    release,

    async releaseAbandoned(now) {
      const due = ['ZRANGEBYSCORE', reservations, '-inf', String(now), 'LIMIT', '0', String(batchSize)];
      const uploads = ((await redis.send(reservations, due)) as string[]).map(uploadOf);
      const known = await knownBlobs(uploads.map(({ blob }) => blob));
      for (const upload of uploads) {
        // The charge of a stored file ends with the file.
        if (known.has(upload.blob)) await dropReservation(upload.blob, upload.owner);
        else await release(upload);
      }
      for (const shard of keys.shards) await textCharges.dischargeEndedTexts(shard);
    },

    async usage() {
      const reserved = await redis.send(reservedBytes, ['HGET', reservedBytes, 'sum']);
      return { stored: await storedBytes(), reserved: Number(reserved ?? 0) };
    },

    async usageOf(account) {
      const [usage = ''] = keys.usage(account);
      return Number((await redis.send(usage, ['HGET', usage, 'sum'])) ?? 0);
    },

    charge,
    discharge,
    moveCharges: charges.moveCharges,
    addCharged,
  };
}

const isTooLittle = ({ bytes }: Left, { least, most }: StorageRequest) => bytes < least || (bytes <= 0 && most > 0);

/** None of the three contains a space. */
const memberOf = (blob: string, { client, network = '' }: Owner) => `${blob} ${client} ${network}`;

function uploadOf(member: string): Upload {
  const [blob = '', client = '', network] = member.split(' ');
  return { blob, owner: { client, network: network || undefined } };
}
