/** The links of rooms. The index by link id is on other nodes of a cluster; the list of the room decides. */
import type { MissingReason } from '../../core/ports/basics.ts';
import {
  isExpired,
  type LinkAdmission,
  type LinkAttempt,
  type LinkStore,
  type StoredLink,
} from '../../core/ports/links.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { LinkId, RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import type { Misses } from './counters.ts';
import { keepIndex } from './files.ts';
import { dropIndexes, isLive, type Keys, linkIdsIn, netMs, pairsOf, returnIfMissing } from './keys.ts';
import { roomFields, roomOf } from './rooms.ts';
import { dropUpload } from './uploads.ts';

export function createLinks(redis: Redis, keys: Keys, rules: GuardRules, misses: Misses): LinkStore {
  async function codeOf(id: LinkId): Promise<RoomCode | undefined> {
    const index = keys.roomOfLink(id);
    return ((await redis.send(index, ['GET', index])) ?? undefined) as RoomCode | undefined;
  }

  async function enter({ id, deviceId, now }: LinkAttempt): Promise<LinkAdmission> {
    const code = await codeOf(id);
    if (!code) return { outcome: 'unknown' };
    const { room, links, seen } = keys.ofRoom(code);
    const args = [now, rules.rememberExpiredMs, id, deviceId ?? '', rules.deviceSeenMs, rules.devicesPerRoom];
    const reply = await redis.run(enterByLinkScript, [room, links, seen], args);
    if (typeof reply === 'string') return { outcome: reply as 'unknown' | 'expired' };
    const [fields, json, lastUsed] = reply as [string[], string, string | null];
    return { outcome: 'admitted', room: roomOf(code, fields), link: linkOf(json, lastUsed) };
  }

  return {
    async admit(attempt) {
      const isCounted = attempt.deviceId !== undefined;
      const before = misses.lockedOutUntil(attempt) ?? (isCounted ? (await misses.count(attempt, 0)).until : undefined);
      if (before !== undefined) return { outcome: 'too-many-misses', until: before };
      const admission = await enter(attempt);
      const { until: after } = await misses.count(attempt, admission.outcome === 'unknown' ? 1 : 0);
      return after === undefined ? admission : { outcome: 'too-many-misses', until: after };
    },

    async findLink(id, now) {
      const code = await codeOf(id);
      if (!code) return undefined;
      const { room, links } = keys.ofRoom(code);
      const reply = await redis.run(findLinkScript, [room, links], [now, id]);
      if (reply === null) return undefined;
      const [json, lastUsed] = reply as [string, string | null];
      const link = linkOf(json, lastUsed);
      return isExpired(link, now) ? undefined : { code, link };
    },

    async createLink(code, link, most, now) {
      const { room, links } = keys.ofRoom(code);
      const index = keys.roomOfLink(link.id);
      // The index first, so that a listed link works.
      await redis.send(index, ['SET', index, code, 'PX', String(netMs)]);
      const args = [now, rules.rememberExpiredMs, link.id, linkJson(link), most];
      const reply = await redis.run(createLinkScript, [room, links], args);
      if (Array.isArray(reply)) {
        const [expiresAt, ...ended] = reply as [string, ...LinkId[]];
        await keepIndex(redis, index, Number(expiresAt) - now + netMs);
        await dropIndexes(redis, ended.map(keys.roomOfLink));
        return 'created';
      }
      await redis.send(index, ['DEL', index]);
      return reply as 'full' | MissingReason;
    },

    async listLinks(code, now) {
      const { room, links } = keys.ofRoom(code);
      const reply = await redis.run(listLinksScript, [room, links], [now, rules.rememberExpiredMs]);
      if (typeof reply === 'string') return reply as MissingReason;
      return linksOf(reply as string[]).filter((link) => !isExpired(link, now));
    },

    async revokeLink(code, id, now) {
      const { room, uploads, uploadStates, uploadEnds, blobs, trash, trashOwners, storedBytes, links } =
        keys.ofRoom(code);
      const touched = [room, uploads, uploadStates, uploadEnds, blobs, trash, trashOwners, storedBytes, links];
      const reply = await redis.run(revokeLinkScript, touched, [now, rules.rememberExpiredMs, id, code]);
      if (reply === 'revoked') await dropIndexes(redis, [keys.roomOfLink(id)]);
      return reply as 'revoked' | 'no-link' | MissingReason;
    },

    async noteUse(code, id, now) {
      await redis.run(noteUseScript, [keys.ofRoom(code).links], [now, id]);
    },
  };
}

/** Oldest first, from alternating fields and values. */
export function linksOf(pairs: readonly string[]): StoredLink[] {
  const fields = new Map(pairsOf(pairs));
  const links = linkIdsIn([...fields.keys()]).map((id) => linkOf(fields.get(id) ?? '', fields.get(usedField(id))));
  return links.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** The fields of a list and their values. */
export const linkFields = (link: StoredLink): string[][] => [
  [link.id, linkJson(link)],
  ...(link.lastUsed === undefined ? [] : [[usedField(link.id), String(link.lastUsed)]]),
];

const usedField = (id: LinkId) => `${id}:used`;

const linkJson = ({ id, role, name, createdAt, expiresAt }: StoredLink): string =>
  JSON.stringify({ id, role, name, createdAt, expiresAt });

function linkOf(json: string, lastUsed: string | null | undefined): StoredLink {
  const { id, role, name, createdAt, expiresAt } = JSON.parse(json) as StoredLink;
  return { id, role, name, createdAt, expiresAt, lastUsed: lastUsed ? Number(lastUsed) : undefined };
}

/**
 * Adds a device with the role and the name of its link: neither the id nor the role contains a space. KEYS: room, links,
 * seen. ARGV: now, rememberExpiredMs, id, deviceId or '', deviceSeenMs, devicesPerRoom.
 */
const enterByLinkScript = scriptWhenFull(`
local now = tonumber(ARGV[1])
local expiresAt = tonumber(redis.call('HGET', KEYS[1], 'expiresAt') or 0)
local json = redis.call('HGET', KEYS[2], ARGV[3])
if not json then return 'unknown' end
local link = cjson.decode(json)
if expiresAt <= now or (link.expiresAt and link.expiresAt <= now) then return 'expired' end
if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[3], ARGV[1], ARGV[4] .. ' ' .. link.role .. ' ' .. (link.name or ''))
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -(tonumber(ARGV[6]) + 1))
  redis.call('PEXPIRE', KEYS[3], 2 * tonumber(ARGV[5]))
end
return {redis.call('HMGET', KEYS[1], ${roomFields}), json, redis.call('HGET', KEYS[2], ARGV[3] .. ':used')}
`);

/** KEYS: room, links. ARGV: now, id. */
const findLinkScript = script(`${isLive}
if not isLive(KEYS[1], ARGV[1]) then return false end
local link = redis.call('HMGET', KEYS[2], ARGV[2], ARGV[2] .. ':used')
return link[1] and link
`);

/**
 * KEYS: room, links. ARGV: now, rememberExpiredMs, id, json, how many there may be. Returns the expiry of the room, and
 * the ids of expired links, which it has dropped.
 */
const createLinkScript = script(`${returnIfMissing}
local fields, count, dropped = redis.call('HGETALL', KEYS[2]), 0, {}
for i = 1, #fields, 2 do
  if not string.find(fields[i], ':') then
    local endsAt = cjson.decode(fields[i + 1]).expiresAt
    if endsAt and endsAt <= tonumber(ARGV[1]) then
      redis.call('HDEL', KEYS[2], fields[i], fields[i] .. ':used')
      dropped[#dropped + 1] = fields[i]
    else count = count + 1 end
  end
end
if count >= tonumber(ARGV[5]) then return 'full' end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
return {redis.call('HGET', KEYS[1], 'expiresAt'), unpack(dropped)}
`);

/** KEYS: room, links. ARGV: now, rememberExpiredMs. */
const listLinksScript = script(`${returnIfMissing}
return redis.call('HGETALL', KEYS[2])
`);

/**
 * KEYS: room, unfinished files, their states, ends of uploads, blobs, trash, owners of the trash, stored bytes, links.
 * ARGV: now, rememberExpiredMs, id, code.
 */
const revokeLinkScript = scriptWhenFull(`${returnIfMissing}${dropUpload}
if redis.call('HDEL', KEYS[9], ARGV[3]) == 0 then return 'no-link' end
redis.call('HDEL', KEYS[9], ARGV[3] .. ':used')
local uploads = redis.call('HGETALL', KEYS[2])
for i = 1, #uploads, 2 do
  if fileIn(uploads[i + 1]).link == ARGV[3] then
    dropUpload(KEYS[1], KEYS[2], KEYS[3], KEYS[4], uploads[i], ARGV[4] .. ' ' .. uploads[i], unpack(KEYS, 5, 8))
  end
end
return 'revoked'
`);

/** KEYS: links. ARGV: now, id. */
const noteUseScript = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then redis.call('HSET', KEYS[1], ARGV[2] .. ':used', ARGV[1]) end
`);
