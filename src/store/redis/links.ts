/** The links of rooms. The index by link id is on other nodes of a cluster; the list of the room decides. */
import {
  type GuardRules,
  isExpired,
  type LinkAdmission,
  type LinkAttempt,
  type LinkStore,
  type StoredLink,
} from '../../core/ports/rooms.ts';
import type { LinkId, RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Misses } from './counters.ts';
import { keepIndex } from './files.ts';
import { createRunner, dropIndexes, inLiveRoom, isLive, type Keys, linkIdsIn, netMs, onKeys, pairsOf } from './keys.ts';
import { roomFields, roomOf } from './rooms.ts';
import { dropUpload } from './uploads.ts';

export function createLinks(redis: Redis, keys: Keys, rules: GuardRules, misses: Misses): LinkStore {
  const run = createRunner(redis, keys, rules);

  async function codeOf(id: LinkId): Promise<RoomCode | undefined> {
    const index = keys.roomOfLink(id);
    return ((await redis.send(index, ['GET', index])) ?? undefined) as RoomCode | undefined;
  }

  async function enter({ id, deviceId, now }: LinkAttempt): Promise<LinkAdmission> {
    const code = await codeOf(id);
    if (!code) return { outcome: 'unknown' };
    const limits = [rules.deviceSeenMs, rules.devicesPerRoom];
    const reply = await run(enterByLinkScript, code, now, id, deviceId ?? '', ...limits);
    if (typeof reply === 'string') return { outcome: reply };
    const [fields, json, lastUsed] = reply;
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
      const found = code && (await run(findLinkScript, code, now, id));
      if (!found) return undefined;
      const link = linkOf(...found);
      return isExpired(link, now) ? undefined : { code, link };
    },

    async createLink(code, link, most, now) {
      const index = keys.roomOfLink(link.id);
      // The index first, so that a listed link works.
      await redis.send(index, ['SET', index, code, 'PX', String(netMs)]);
      const reply = await run(createLinkScript, code, now, link.id, linkJson(link), most);
      if (typeof reply === 'string') {
        await redis.send(index, ['DEL', index]);
        return reply;
      }
      const [expiresAt, ...ended] = reply;
      await keepIndex(redis, index, Number(expiresAt) - now + netMs);
      await dropIndexes(redis, ended.map(keys.roomOfLink));
      return 'created';
    },

    async listLinks(code, now) {
      const reply = await run(listLinksScript, code, now);
      return typeof reply === 'string' ? reply : linksOf(reply).filter((link) => !isExpired(link, now));
    },

    async revokeLink(code, id, now) {
      const reply = await run(revokeLinkScript, code, now, id, code);
      if (reply === 'revoked') await dropIndexes(redis, [keys.roomOfLink(id)]);
      return reply;
    },

    noteUse: (code, id, now) => run(noteUseScript, code, now, id),
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
  const optional = { name: undefined, expiresAt: undefined };
  return { ...optional, ...JSON.parse(json), lastUsed: lastUsed ? Number(lastUsed) : undefined };
}

/** Adds a device with the role and the name of its link: neither the id nor the role contains a space. */
const enterByLinkScript = onKeys('room, links, seen', 'now, id, deviceId, deviceSeenMs, devicesPerRoom').scriptWhenFull<
  [fields: string[], json: string, lastUsed: string | null] | 'unknown' | 'expired'
>(`
local expiresAt = tonumber(redis.call('HGET', room, 'expiresAt') or 0)
local json = redis.call('HGET', links, id)
if not json then return 'unknown' end
local link = cjson.decode(json)
if expiresAt <= tonumber(now) or (link.expiresAt and link.expiresAt <= tonumber(now)) then return 'expired' end
if deviceId ~= '' then
  redis.call('ZADD', seen, now, deviceId .. ' ' .. link.role .. ' ' .. (link.name or ''))
  redis.call('ZREMRANGEBYRANK', seen, 0, -(tonumber(devicesPerRoom) + 1))
  redis.call('PEXPIRE', seen, 2 * tonumber(deviceSeenMs))
end
return {redis.call('HMGET', room, ${roomFields}), json, redis.call('HGET', links, id .. ':used')}
`);

const findLinkScript = onKeys('room, links', 'now, id').script<
  [json: string, lastUsed: string | null] | null
>(`${isLive}
if not isLive(room, now) then return false end
local link = redis.call('HMGET', links, id, id .. ':used')
return link[1] and link
`);

/** Drops expired links, and returns their ids. */
const createLinkScript = inLiveRoom('room, links', 'now, id, json, most').script<
  [expiresAt: string, ...dropped: LinkId[]] | 'full'
>(`
local fields, count, dropped = redis.call('HGETALL', links), 0, {}
for i = 1, #fields, 2 do
  if not string.find(fields[i], ':') then
    local endsAt = cjson.decode(fields[i + 1]).expiresAt
    if endsAt and endsAt <= tonumber(now) then
      redis.call('HDEL', links, fields[i], fields[i] .. ':used')
      dropped[#dropped + 1] = fields[i]
    else count = count + 1 end
  end
end
if count >= tonumber(most) then return 'full' end
redis.call('HSET', links, id, json)
redis.call('PEXPIRE', links, redis.call('PTTL', room))
return {redis.call('HGET', room, 'expiresAt'), unpack(dropped)}
`);

const listLinksScript = inLiveRoom('room, links', 'now').script<string[]>(`
return redis.call('HGETALL', links)
`);

const revokeLinkScript = inLiveRoom(
  'room, uploads, uploadStates, uploadEnds, blobs, trash, trashOwners, storedBytes, links',
  'now, id, code',
).scriptWhenFull<'revoked' | 'no-link'>(`${dropUpload}
if redis.call('HDEL', links, id) == 0 then return 'no-link' end
redis.call('HDEL', links, id .. ':used')
local unfinished = redis.call('HGETALL', uploads)
for i = 1, #unfinished, 2 do
  if fileIn(unfinished[i + 1]).link == id then
    local member = code .. ' ' .. unfinished[i]
    dropUpload(room, uploads, uploadStates, uploadEnds, unfinished[i], member, blobs, trash, trashOwners, storedBytes)
  end
end
return 'revoked'
`);

const noteUseScript = onKeys('links', 'now, id').script<void>(`
if redis.call('HEXISTS', links, id) == 1 then redis.call('HSET', links, id .. ':used', now) end
`);
