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
import type { Owner } from '../../core/ports/basics.ts';
import type { ReachedLimit, StorageAccounts, StorageRequest } from '../../core/ports/clients.ts';
import type { StoredFile, TrashStore } from '../../core/ports/files.ts';
import type { RoomRecord } from '../../core/ports/store.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import { type Keys, netMs } from './keys.ts';

export type RedisStorage = ReturnType<typeof createStorage>;

const batchSize = 100;

export function createStorage(redis: Redis, keys: Keys, knownBlobs: TrashStore['knownBlobs']) {
  const { reservations, reservedBytes } = keys;
  const charges = createCharges(redis, keys);
  const { charge, discharge, leftFor } = charges;
  const textCharges = createTextCharges(redis, keys, charges);

  /** Returns the bytes of all other uploads in progress. */
  async function note({ blob, owner, deadline }: StorageRequest, bytes: number): Promise<number> {
    const args = [memberOf(blob, owner), deadline, bytes];
    return Number(await redis.run(noteReservationScript, [reservations, reservedBytes], args));
  }

  async function dropReservation(blob: string, owner: Owner): Promise<void> {
    await redis.run(dropReservationScript, [reservations, reservedBytes], [memberOf(blob, owner)]);
  }

  async function storedBytes(): Promise<number> {
    const ofShards = await Promise.all(keys.shards.map(({ storedBytes: key }) => redis.send(key, ['GET', key])));
    return ofShards.reduce<number>((sum, bytes) => sum + Number(bytes ?? 0), 0);
  }

  async function release({ blob, owner }: Upload): Promise<void> {
    await discharge(blob, owner);
    await dropReservation(blob, owner);
  }

  /** Adds a file to its room, charges its size and ends its reservation. `add` returns a string if it is rejected. */
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

  const accounts: Omit<StorageAccounts, 'chargeText'> = {
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
  };
  return { ...accounts, ...textCharges, charge, discharge, moveCharges: charges.moveCharges, addCharged };
}

const isTooLittle = ({ bytes }: Left, { least, most }: StorageRequest) => bytes < least || (bytes <= 0 && most > 0);

/** None of the three contains a space. */
const memberOf = (blob: string, { client, network = '' }: Owner) => `${blob} ${client} ${network}`;

function uploadOf(member: string): Upload {
  const [blob = '', client = '', network] = member.split(' ');
  return { blob, owner: { client, network: network || undefined } };
}

type Upload = Pick<StorageRequest, 'blob' | 'owner'>;

type ChargedFile = Upload & { size: number; expiresAt: number };
type Claim = Omit<StorageRequest, 'owner' | 'deadline'> & { limit: number };

/** `bytes` is -1 if too little is left. */
type Charged = { bytes: number; used: number; freesAt: number | undefined };

type Left = { bytes: number; limit: ReachedLimit | undefined };

/** A safety net for the trash, like `netMs` for rooms. */
const keptMs = netMs + 86_400_000;

type StorageCharges = ReturnType<typeof createCharges>;

/** Charges of blobs and texts to the accounts of clients and networks. */
function createCharges(redis: Redis, keys: Keys) {
  async function chargeAccount(account: string, claim: Claim, now: number): Promise<Charged> {
    const { blob, least, most, limit, expiresAt } = claim;
    const args = [now, blob, least, most, Number.isFinite(limit) ? limit : '', expiresAt + keptMs];
    const reply = await redis.run(chargeBlobScript, keys.usage(account), args);
    const [bytes, used, first] = reply as [number, number, string];
    return { bytes, used, freesAt: first === '0' ? undefined : Number(first) - keptMs };
  }

  /** Charges a file with its size, regardless of limits. */
  async function charge({ blob, owner, size, expiresAt }: ChargedFile, now: number): Promise<void> {
    const claim = { blob, least: 0, most: size, limit: Number.POSITIVE_INFINITY, expiresAt };
    await Promise.all(accountsOf(owner).map((account) => chargeAccount(account, claim, now)));
  }

  async function discharge(blob: string, owner: Owner): Promise<void> {
    await Promise.all(accountsOf(owner).map((one) => redis.run(dischargeBlobScript, keys.usage(one), [blob])));
  }

  /** Moves the end of charges with the expiry of their room. Those that do not exist are not created. */
  async function moveCharges(charged: readonly Upload[], expiresAt: number, now: number): Promise<void> {
    const blobs = new Map<string, string[]>();
    for (const { blob, owner } of charged) {
      for (const account of accountsOf(owner)) blobs.set(account, [...(blobs.get(account) ?? []), blob]);
    }
    const move = ([account, names]: [string, string[]]) =>
      redis.run(moveChargesScript, keys.usage(account), [now, expiresAt + keptMs, ...names]);
    await Promise.all([...blobs].map(move));
  }

  async function leftFor(request: StorageRequest, scope: keyof Owner, limit: number, before: Left, now: number) {
    const account = request.owner[scope];
    if (account === undefined) return before;
    const claim = { ...request, most: before.bytes, limit };
    const { bytes, used, freesAt } = await chargeAccount(account, claim, now);
    if (bytes === before.bytes) return before;
    return { bytes, limit: { scope, used, maximum: limit, freesAt } } satisfies Left;
  }

  return { charge, discharge, moveCharges, leftFor };
}

const accountsOf = ({ client, network }: Owner) => (network === undefined ? [client] : [client, network]);

/** Recorded in the room, so that a text is discharged when its room ends. */
function createTextCharges(redis: Redis, keys: Keys, charges: StorageCharges) {
  const { charge, discharge, leftFor } = charges;

  /** Sets the charge of a text, regardless of limits. */
  async function setTextCharge(code: RoomCode, owner: Owner, bytes: number, expiresAt: number, now: number) {
    if (bytes > 0) await charge({ blob: textName(code), owner, size: bytes, expiresAt }, now);
    else await discharge(textName(code), owner);
  }

  /** Recorded in the room first, so that the text is discharged when its room ends, whatever happens in between. */
  async function noteTextCharge(code: RoomCode, bytes: number) {
    const { room } = keys.ofRoom(code);
    const reply = await redis.run(noteTextChargeScript, [room], [bytes]);
    if (reply === null) return undefined;
    const [before, expiresAt] = reply as [string, string];
    return { before: Number(before), expiresAt: Number(expiresAt) };
  }

  /** The room may have ended, or its expiry may have been changed, before its text was charged. */
  async function followRoom(code: RoomCode, owner: Owner, expiresAt: number, now: number): Promise<void> {
    const { room } = keys.ofRoom(code);
    const reply = await redis.send(room, ['HMGET', room, 'textCharge', 'expiresAt']);
    const [charged, movedTo] = reply as (string | null)[];
    const blob = textName(code);
    if (charged === null) await discharge(blob, owner);
    else if (Number(movedTo) !== expiresAt) await charges.moveCharges([{ blob, owner }], Number(movedTo), now);
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

  const chargeText: StorageAccounts['chargeText'] = async ({ code, owner, bytes }, limits, now) => {
    const noted = await noteTextCharge(code, bytes);
    if (!noted) return undefined;
    const { before, expiresAt } = noted;
    if (bytes <= before) {
      await setTextCharge(code, owner, bytes, expiresAt, now);
      return void (await followRoom(code, owner, expiresAt, now));
    }
    const request = { blob: textName(code), owner, expiresAt, deadline: now, least: bytes, most: bytes };
    for (const scope of ['client', 'network'] as const) {
      const { limit } = await leftFor(request, scope, limits[scope], { bytes, limit: undefined }, now);
      if (!limit) continue;
      await setTextCharge(code, owner, before, expiresAt, now);
      await noteTextCharge(code, before);
      return { ...limit, used: limit.used + before };
    }
    return void (await followRoom(code, owner, expiresAt, now));
  };

  /** For the text of a restored room. */
  async function restoreTextCharge({ code, owner, textCharge, expiresAt }: RoomRecord, now: number): Promise<void> {
    if (owner && textCharge) await setTextCharge(code, owner, textCharge, expiresAt, now);
  }

  return { chargeText, restoreTextCharge, dischargeEndedTexts };
}

/** Differs from every blob name. */
export const textName = (code: string) => `text:${code}`;

/** A counted text continues to count until the account of its owner, which is on another node, has been changed. */
export const endText = `
local function endText(room, endedTexts, code)
  local text = redis.call('HMGET', room, 'textCharge', 'client', 'network')
  if (tonumber(text[1] or '') or 0) == 0 then return 0 end
  redis.call('HSET', endedTexts, code, text[2] .. ' ' .. text[3])
  return 1
end
`;

/**
 * Charges a blob to a client or network, with at most the rest of the limit. Drops charges that have reached their end,
 * because their rooms ended long ago.
 *
 * KEYS: usage, ends. ARGV: now, blob, least, most, limit or '', end. Returns the bytes, or -1 if `least` does not fit;
 * the bytes of all other blobs; the first end, or '0'.
 */
const chargeBlobScript = script(`
local now, most = tonumber(ARGV[1]), tonumber(ARGV[4])
local sum = tonumber(redis.call('HGET', KEYS[1], 'sum') or 0)
local function drop(blob)
  sum = sum - tonumber(redis.call('HGET', KEYS[1], blob) or 0)
  redis.call('HDEL', KEYS[1], blob)
  redis.call('ZREM', KEYS[2], blob)
end
for _, blob in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 1000)) do drop(blob) end
drop(ARGV[2])
local function save()
  redis.call('HSET', KEYS[1], 'sum', string.format('%.0f', sum))
  local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
  if not last then return redis.call('DEL', KEYS[1], KEYS[2]) end
  for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], string.format('%.0f', math.max(1, tonumber(last) - now))) end
end

local others = sum
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or '0'
local bytes = ARGV[5] == '' and most or math.max(0, math.min(most, tonumber(ARGV[5]) - others))
if bytes < tonumber(ARGV[3]) or (bytes == 0 and most > 0) then
  save()
  return {-1, others, first}
end
sum = sum + bytes
redis.call('HSET', KEYS[1], ARGV[2], string.format('%.0f', bytes))
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[2])
save()
return {bytes, others, first}
`);

/** KEYS: usage, ends. ARGV: blob. */
const dischargeBlobScript = scriptWhenFull(`
local bytes = redis.call('HGET', KEYS[1], ARGV[1])
if not bytes then return end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('ZCARD', KEYS[2]) == 0 then return redis.call('DEL', KEYS[1], KEYS[2]) end
redis.call('HINCRBY', KEYS[1], 'sum', 0 - tonumber(bytes))
`);

/** Moves the ends of charges, if they exist. KEYS: usage, ends. ARGV: now, end, the charged blobs. */
const moveChargesScript = script(`
for i = 3, #ARGV do redis.call('ZADD', KEYS[2], 'XX', ARGV[2], ARGV[i]) end
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
if not last then return end
local keepMs = string.format('%.0f', math.max(1, tonumber(last) - tonumber(ARGV[1])))
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], keepMs) end
`);

/** KEYS: room. ARGV: bytes. Returns the previous bytes and the expiry of the room; false if the text does not count. */
const noteTextChargeScript = script(`
local room = redis.call('HMGET', KEYS[1], 'textCharge', 'expiresAt')
if not room[1] or room[1] == '' then return false end
redis.call('HSET', KEYS[1], 'textCharge', ARGV[1])
return room
`);

/**
 * Records an upload before anything is charged for it, so that nothing stays charged if its node crashes.
 * KEYS: reservations, reserved bytes. ARGV: upload, deadline, bytes. Returns the bytes of all other uploads.
 */
const noteReservationScript = script(`
local before = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0)
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
return redis.call('HINCRBY', KEYS[2], 'sum', string.format('%.0f', tonumber(ARGV[3]) - before)) - tonumber(ARGV[3])
`);

/** KEYS: reservations, reserved bytes. ARGV: upload. */
const dropReservationScript = scriptWhenFull(`
local bytes = redis.call('HGET', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
if not bytes then return end
redis.call('HDEL', KEYS[2], ARGV[1])
if redis.call('ZCARD', KEYS[1]) == 0 then return redis.call('DEL', KEYS[2]) end
redis.call('HINCRBY', KEYS[2], 'sum', string.format('%.0f', 0 - tonumber(bytes)))
`);
