/**
 * Bytes of files by owner. The data of a client, of its network and of an upload may be on three nodes of a cluster, so
 * no script can change all of it. The order of the steps ensures consistency:
 *
 * 1. An upload is recorded with a deadline, then charged to its client and its network.
 * 2. When it is stored, the charges are set to its size, the file is added to its room, and the record is dropped.
 * 3. When its bytes are removed, its charges are dropped, and then its entry in the trash.
 *
 * Wherever a node crashes, either the record or the trash entry remains, and the sweep of another node does the rest. A
 * blob is charged under its name, so repeating a step changes nothing.
 */
import type { Owner, ReachedLimit, RoomRecord, RoomStore, StorageAccounts, StorageRequest } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { type Keys, netMs } from './keys.ts';
import * as scripts from './storage-scripts.ts';

export interface RedisStorage extends StorageAccounts {
  /** Charges a file with its size, regardless of limits. */
  charge(file: ChargedFile, now: number): Promise<void>;
  discharge(blob: string, owner: Owner): Promise<void>;
  /** For the text of a restored room. */
  restoreTextCharge(
    record: Pick<RoomRecord, 'code' | 'owner' | 'textCharge' | 'expiresAt'>,
    now: number,
  ): Promise<void>;
  dischargeEndedTexts(shard: Pick<Keys['shards'][number], 'endedTexts'>): Promise<void>;
  /** Call this when the file has been added to its room. */
  dropReservation(blob: string, owner: Owner): Promise<void>;
}

type KnownBlobs = RoomStore['knownBlobs'];

/** A safety net for the trash, like `netMs` for rooms. */
const keptMs = netMs + 86_400_000;
const batchSize = 100;

export function createStorage(redis: Redis, keys: Keys, knownBlobs: KnownBlobs): RedisStorage {
  const { reservations, reservedBytes } = keys;

  async function chargeAccount(account: string, claim: Claim, now: number): Promise<Charged> {
    const { blob, least, most, limit, expiresAt } = claim;
    const args = [now, blob, least, most, Number.isFinite(limit) ? limit : '', expiresAt + keptMs];
    const reply = await redis.run(scripts.chargeBlob, keys.usage(account), args);
    const [bytes, used, first] = reply as [number, number, string];
    return { bytes, used, freesAt: first === '0' ? undefined : Number(first) - keptMs };
  }

  async function charge({ blob, owner, size, expiresAt }: ChargedFile, now: number): Promise<void> {
    const claim = { blob, least: 0, most: size, limit: Number.POSITIVE_INFINITY, expiresAt };
    await Promise.all(accountsOf(owner).map((account) => chargeAccount(account, claim, now)));
  }

  async function discharge(blob: string, owner: Owner): Promise<void> {
    await Promise.all(accountsOf(owner).map((one) => redis.run(scripts.dischargeBlob, keys.usage(one), [blob])));
  }

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

  async function leftFor(
    request: StorageRequest,
    scope: 'client' | 'network',
    limit: number,
    before: Left,
    now: number,
  ) {
    const account = request.owner[scope];
    if (account === undefined) return before;
    const claim = { ...request, most: before.bytes, limit };
    const { bytes, used, freesAt } = await chargeAccount(account, claim, now);
    if (bytes === before.bytes) return before;
    return { bytes, limit: { scope, used, maximum: limit, freesAt } } satisfies Left;
  }

  /** Sets the charge of a text, regardless of limits. */
  async function setTextCharge(code: RoomCode, owner: Owner, bytes: number, expiresAt: number, now: number) {
    if (bytes > 0) await charge({ blob: textName(code), owner, size: bytes, expiresAt }, now);
    else await discharge(textName(code), owner);
  }

  /** Recorded in the room first, so that the text is discharged when its room ends, whatever happens in between. */
  async function noteTextCharge(code: RoomCode, bytes: number): Promise<NotedCharge | undefined> {
    const { room } = keys.ofRoom(code);
    const reply = await redis.run(scripts.noteTextCharge, [room], [bytes]);
    if (reply === null) return undefined;
    const [before, expiresAt] = reply as [string, string];
    return { before: Number(before), expiresAt: Number(expiresAt) };
  }

  async function dischargeEndedTexts({ endedTexts }: Pick<Keys['shards'][number], 'endedTexts'>): Promise<void> {
    const ended = (await redis.send(endedTexts, ['HKEYS', endedTexts])) as string[];
    for (const code of ended) {
      const owner = await redis.send(endedTexts, ['HGET', endedTexts, code]);
      if (owner === null) continue;
      const [client = '', network] = String(owner).split(' ');
      await discharge(textName(code), { client, network: network || undefined });
      await redis.send(endedTexts, ['HDEL', endedTexts, code]);
    }
  }

  return {
    async chargeText({ code, owner, bytes }, limits, now) {
      const noted = await noteTextCharge(code, bytes);
      if (!noted) return undefined;
      const { before, expiresAt } = noted;
      if (bytes <= before) return void (await setTextCharge(code, owner, bytes, expiresAt, now));
      const request = {
        ...{ blob: textName(code), owner, expiresAt, deadline: now },
        ...{ least: bytes, most: bytes },
      };
      for (const scope of ['client', 'network'] as const) {
        const { limit } = await leftFor(request, scope, limits[scope], { bytes, limit: undefined }, now);
        if (!limit) continue;
        await setTextCharge(code, owner, before, expiresAt, now);
        await noteTextCharge(code, before);
        return { ...limit, used: limit.used + before };
      }
      // The room may have ended, and its text may have been discharged, before it was charged.
      const { room } = keys.ofRoom(code);
      if (Number(await redis.send(room, ['HEXISTS', room, 'textCharge'])) === 0) await discharge(textName(code), owner);
      return undefined;
    },

    async restoreTextCharge({ code, owner, textCharge, expiresAt }, now) {
      if (owner && textCharge) await setTextCharge(code, owner, textCharge, expiresAt, now);
    },

    dischargeEndedTexts,

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
      for (const shard of keys.shards) await dischargeEndedTexts(shard);
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
    dropReservation,
  };
}

interface ChargedFile extends Upload {
  size: number;
  expiresAt: number;
}

interface NotedCharge {
  before: number;
  expiresAt: number;
}

/** Differs from every blob name. */
const textName = (code: string) => `text:${code}`;

type Upload = Pick<StorageRequest, 'blob' | 'owner'>;

interface Claim extends Omit<StorageRequest, 'owner' | 'deadline'> {
  limit: number;
}

interface Charged {
  /** -1 if too little is left. */
  bytes: number;
  used: number;
  freesAt: number | undefined;
}

interface Left {
  bytes: number;
  limit: ReachedLimit | undefined;
}

const isTooLittle = ({ bytes }: Left, { least, most }: StorageRequest) => bytes < least || (bytes <= 0 && most > 0);

const accountsOf = ({ client, network }: Owner) => (network === undefined ? [client] : [client, network]);

/** None of the three contains a space. */
const memberOf = (blob: string, { client, network = '' }: Owner) => `${blob} ${client} ${network}`;

function uploadOf(member: string): Upload {
  const [blob = '', client = '', network] = member.split(' ');
  return { blob, owner: { client, network: network || undefined } };
}
