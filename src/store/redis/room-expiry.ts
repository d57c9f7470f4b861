/**
 * How rooms end: by deletion, or by expiry, which can be moved. The place of a room among all rooms, the indexes of its files and
 * the charges of its bytes are on other nodes of a cluster, so no script can change all of them with the room. Each of these steps can be repeated, and
 * the order of them ensures that nothing ends before its room and that the sweep finds the room in time: a sweep that
 * comes too early finds that the room has not expired, and puts it back.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { scriptWhenFull } from '../../redis/script.ts';
import { dropFiles, fileOf, keepIndex } from './files.ts';
import {
  clearUp,
  createRunner,
  dropIndexes,
  inLiveRoom,
  isLive,
  type Keys,
  leaseMs,
  linkIdsIn,
  netMs,
  onKeys,
} from './keys.ts';
import { endText, type RedisStorage, textName } from './quota.ts';

type Holdings = ReturnType<typeof holdingsOf>;

/** Each repetition means that the expiry was changed again. */
const maxRepetitions = 10;

export function createRoomExpiry(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage) {
  const run = createRunner(redis, keys, rules);
  const zadd = (...options: string[]) => redis.send(keys.rooms, ['ZADD', keys.rooms, ...options]);

  async function readHoldings(code: RoomCode): Promise<Holdings | undefined> {
    const reply = await run(readHoldingsScript, code);
    return reply === null ? undefined : holdingsOf(code, reply);
  }

  async function keepUntil({ fileIds, linkIds, charges }: Holdings, expiresAt: number, now: number): Promise<void> {
    const indexes = [...fileIds.map(keys.roomOfFile), ...linkIds.map(keys.roomOfLink)];
    await Promise.all(indexes.map((index) => keepIndex(redis, index, expiresAt - now + netMs)));
    await storage.moveCharges(charges, expiresAt, now);
  }

  /** After the room has changed, or was found unchanged. Another change may run at the same time. */
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

  const dropAllIndexes = (fileIds: readonly string[], links: readonly string[]) =>
    dropIndexes(redis, [...fileIds.map(keys.roomOfFile), ...linkIdsIn(links).map(keys.roomOfLink)]);

  /** Returns whether the room has ended. A room that was extended is listed for the sweep again. */
  async function end(code: RoomCode, member: string, now: number): Promise<boolean> {
    const reply = await run(expireRoomScript, code, now, code);
    const hasEnded = typeof reply !== 'string';
    if (hasEnded) await dropAllIndexes(...reply);
    else {
      await zadd('NX', reply, code);
      await settle(code, now);
    }
    await redis.send(keys.ending, ['ZREM', keys.ending, member]);
    return hasEnded;
  }

  return {
    /** Before the room changes. */
    async prepare(code: RoomCode, expiresAt: number, now: number): Promise<void> {
      const held = await readHoldings(code);
      if (!held) return;
      if (expiresAt > held.expiresAt) await keepUntil(held, expiresAt, now);
      else await zadd('XX', 'LT', String(expiresAt), code);
    },

    settle,

    async deleteRoom(code: RoomCode, now: number) {
      const reply = await run(deleteRoomScript, code, now, code);
      if (typeof reply === 'string') return reply;
      const [seq, hadText, fileIds, links] = reply;
      await clearUp(redis, keys.rooms, ['ZREM', keys.rooms, code]);
      await dropAllIndexes(fileIds, links);
      // If this fails, the sweep does it.
      if (hadText === 1) await storage.dischargeEndedTexts(keys.ofRoom(code)).catch(() => undefined);
      return { seq };
    },

    async expireRooms(now: number, limit: number): Promise<RoomCode[]> {
      const taken = await redis.run(takeExpiredScript, [keys.rooms, keys.ending], [now, limit, now + leaseMs]);
      const members = taken as string[];
      const ended: RoomCode[] = [];
      for (let at = 0; at < members.length; at += roomsAtOnce) {
        const startedAt = performance.now();
        const batch = members.slice(at, at + roomsAtOnce);
        const codes = batch.map((member) => member.split(':')[0] as RoomCode);
        const areEnded = await Promise.all(codes.map((code, i) => end(code, batch[i] as string, now)));
        ended.push(...codes.filter((_, i) => areEnded[i]));
        // Requests of clients wait in the same queue. Half of the time is theirs.
        await pause(performance.now() - startedAt);
      }
      return ended;
    },
  };
}

/** Redis runs one script at a time: many would delay the requests of clients. */
const roomsAtOnce = 20;

type HoldingsReply = [room: (string | null)[], links: string[], files: string[], removed: string[], uploads: string[]];

function holdingsOf(code: RoomCode, [room, links, ...lists]: HoldingsReply) {
  const [expiresAt, textCharge, client, network] = room;
  const files = lists.flat().map(fileOf);
  const charges = files.flatMap(({ blob, owner }) => (owner ? [{ blob, owner }] : []));
  if (client && Number(textCharge) > 0) {
    charges.push({ blob: textName(code), owner: { client, network: network || undefined } });
  }
  return { expiresAt: Number(expiresAt), fileIds: files.map(({ id }) => id), linkIds: linkIdsIn(links), charges };
}

const listsToDrop = 'files, removed, uploads, removals, uploadEnds, blobs, trash, trashOwners, storedBytes';
const keysToDelete =
  'links, guard, trusted, seen, channels, colors, claims, uploadStates, edits, history, historyTexts';
const keysToEnd = `room, ${listsToDrop}, endedTexts, ${keysToDelete}` as const;

/** Ends the text and the files of a room, and deletes all its keys. Returns what is left to do on other nodes. */
const endRoom = `${dropFiles}${endText}
local function endRoom(code)
  local fileIds = dropFiles(code, ${listsToDrop})
  local hadText, linkFields = endText(room, endedTexts, code), redis.call('HKEYS', links)
  redis.call('DEL', room, ${keysToDelete})
  return fileIds, linkFields, hadText
end
`;

/** Returns the seq, and 1 if the text counted. */
const deleteRoomScript = inLiveRoom(keysToEnd, 'now, code').scriptWhenFull<
  [seq: number, hadText: 0 | 1, fileIds: string[], links: string[]]
>(`${endRoom}
local seq = redis.call('HINCRBY', room, 'seq', 1)
local fileIds, linkFields, hadText = endRoom(code)
return {seq, hadText, fileIds, linkFields}
`);

/**
 * Assigns expired rooms to be ended, each to one node. Rooms that a node did not finish are assigned again when its
 * lease ends. KEYS: all rooms by expiry, those being ended. ARGV: now, limit, end of the lease.
 */
const takeExpiredScript = scriptWhenFull(`
local taken = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[2]) - #taken)
for i = 1, #due, 2 do
  redis.call('ZREM', KEYS[1], due[i])
  taken[#taken + 1] = due[i] .. ':' .. due[i + 1]
end
for _, member in ipairs(taken) do redis.call('ZADD', KEYS[2], ARGV[3], member) end
return taken
`);

/**
 * Deletes an expired room except for a record that it existed. A missing room was deleted while the list of all rooms
 * was unreachable. Returns the expiry of a room that has not expired, because it was extended.
 */
const expireRoomScript = onKeys(keysToEnd, 'now, code, rememberExpiredMs').scriptWhenFull<
  string | [fileIds: string[], links: string[]]
>(`${isLive}${endRoom}
local expiresAt = redis.call('HGET', room, 'expiresAt')
if isLive(room, now) then return expiresAt end
local fileIds, linkFields = endRoom(code)
local rest = expiresAt and tonumber(expiresAt) + tonumber(rememberExpiredMs) - tonumber(now) or 0
if rest > 0 then
  redis.call('HSET', room, 'expiresAt', expiresAt)
  redis.call('PEXPIRE', room, string.format('%.0f', rest))
end
return {fileIds, linkFields}
`);

/**
 * Reads the data of a room that other nodes of a cluster keep and that ends with it: the expiry, the charge of the text
 * with its client and network, the fields of the links, and the entries of all files.
 */
const readHoldingsScript = onKeys('room, files, removed, uploads, links').script<HoldingsReply | null>(`
local fields = redis.call('HMGET', room, 'expiresAt', 'textCharge', 'client', 'network')
if not fields[1] then return false end
return {fields, redis.call('HKEYS', links), redis.call('HVALS', files), redis.call('HVALS', removed),
  redis.call('HVALS', uploads)}
`);
