/** Rooms in Redis, and the devices in them. Each method is one script if all its keys have one hash tag. */
import type { FinishedRequest, Repeated, RequestRecord, Room } from '../../core/ports/basics.ts';
import type { Device, GuardRules, RoomDraft, RoomState, RoomStore, RoomUpdate } from '../../core/ports/rooms.ts';
import type { RoomRecord } from '../../core/ports/store.ts';
import type { TextState } from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script } from '../../redis/script.ts';
import { guesserOf } from '../client-counters.ts';
import { fileIn, filesOf } from './files.ts';
import { createIdempotencyStore, createRunOnce, forgetClaim, onceScripts, repeatedIn } from './idempotency.ts';
import { createRunner, inLiveRoom, type Keys, keysFor, linkIdsIn, netMs, onKeys } from './keys.ts';
import type { RedisStorage } from './quota.ts';
import { createRoomExpiry } from './room-expiry.ts';
import { entriesSince, entryOf, type FullTextReply, fullText, lastRefsOf, textOf } from './text.ts';

export function createRooms(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage) {
  const expiry = createRoomExpiry(redis, keys, rules, storage);
  const runOnce = createRunOnce(redis, keys);
  const run = createRunner(redis, keys, rules);
  const idempotency = createIdempotencyStore(redis, keys);

  /**
   * Lists a room, which has another hash tag than the room itself. If the node crashes before the room exists, another
   * run of its request finds the claim and continues, so that no request makes two rooms. `isListed`: by this call.
   */
  async function claimCode(draft: RoomDraft, record: RequestRecord | undefined): Promise<Claim> {
    const { draw, codeLengths, createdAt, expiresAt, claimedLength } = draft;
    if (claimedLength !== undefined && record) {
      const code = draw.slice(0, claimedLength) as RoomCode;
      const repeated = await idempotency.find(code, record, createdAt);
      if (repeated) return { repeated };
      const added = await redis.send(keys.rooms, ['ZADD', keys.rooms, 'NX', String(expiresAt), code]);
      return { code, isListed: Number(added) === 1 };
    }
    const lengths = codeLengths.flatMap(({ length, upTo }) => [length, upTo]);
    const request = { record, room: undefined, now: createdAt };
    const args = [draw, createdAt, expiresAt, ...lengths];
    const reply = await runOnce(claimCodeOnce, [keys.rooms], args, request);
    if (reply === null) return undefined;
    const claimed = repeatedIn(reply);
    return claimed ? { claimed } : { code: reply as RoomCode, isListed: true };
  }

  async function makeRoom(code: RoomCode, draft: RoomDraft, record: RequestRecord | undefined): Promise<unknown> {
    const { createdAt, expiresAt, pinMac, salt, creator, countsText } = draft;
    const keepMs = expiresAt - createdAt + rules.rememberExpiredMs + netMs;
    const fields = {
      ...fieldsOfNew(draft),
      ...{ seq: 0, pinAttempts: 0, fileCount: 0, fileBytes: 0, textCharge: countsText ? 0 : '' },
      ...{ version: 0, textVersion: 0, logVersion: 0, writtenAt: createdAt, content: '' },
    };
    const trusted = pinMac !== undefined && salt === undefined ? creator : '';
    const args = [createdAt, trusted, keepMs, rules.rememberExpiredMs, ...Object.entries(fields).flat()];
    const request = { record, room: code, now: createdAt };
    return runOnce(createRoomOnce, keysFor(createRoomScript, keys, code), args, request);
  }

  /** In one step for the room itself, including its guards. */
  async function update(code: RoomCode, change: RoomUpdate, now: number) {
    const { expiresAt, pinMac, name, admittedBy, uploadLifetimeMs, extendMs, isExtension } = change;
    const left = (expiresAt ?? 0) - now;
    const args = [
      ...[now, hex(admittedBy)],
      ...[pinMac === undefined ? '' : 1, hex(pinMac ?? undefined), guesserOf(change)],
      ...[name === undefined ? '' : 1, name ?? ''],
      ...[expiresAt ?? '', left + rules.rememberExpiredMs + netMs, left + rules.windowMs, uploadLifetimeMs, code],
      ...[isExtension ? 1 : '', extendMs === undefined ? '' : (extendMs ?? 0)],
    ];
    const reply = await run(updateRoomScript, code, ...args);
    if (typeof reply === 'string') return reply;
    const [seq, fields] = reply;
    return { seq, room: roomOf(code, fields) };
  }

  return {
    async createRoom(draft, record) {
      const claim = await claimCode(draft, record);
      if (!claim || !('isListed' in claim)) return claim;
      const { code, isListed } = claim;
      const reply = await makeRoom(code, draft, record && { ...record, codeLength: code.length });
      if (reply === 1) return code;
      const repeated = repeatedIn(reply);
      if (repeated) return { repeated };
      // A recently expired room had this code, so the new room must not use it.
      if (record) await forgetClaim(redis, keys, record);
      if (isListed) await redis.send(keys.rooms, ['ZREM', keys.rooms, code]);
      return undefined;
    },

    async readState(code, now, known) {
      const reply = await run(readStateScript, code, now, known?.version ?? '', known?.writtenAt ?? '');
      return typeof reply === 'string' ? reply : stateOf(code, reply);
    },

    async updateRoom(code, change, now) {
      const { expiresAt } = change;
      if (expiresAt === undefined) return update(code, change, now);
      await expiry.prepare(code, expiresAt, now);
      const updated = await update(code, change, now);
      await expiry.settle(code, now);
      return updated;
    },

    deleteRoom: expiry.deleteRoom,
    expireRooms: expiry.expireRooms,

    countRooms: async (now) => Number(await redis.send(keys.rooms, ['ZCOUNT', keys.rooms, `(${now}`, '+inf'])),
  } satisfies Partial<RoomStore>;
}

type Claim = { code: RoomCode; isListed: boolean } | Repeated | { claimed: FinishedRequest } | undefined;

/** The fields that drafts and restored rooms have in common. Absent values have none. */
export function fieldsOfNew(room: RoomDraft | RoomRecord): Record<string, string | number> {
  const { createdAt, expiresAt, pinMac, keepsHistory, owner, name, salt, createdBy, extendMs } = room;
  const optional = Object.entries({ name, salt, createdBy, extendMs }).filter(([, value]) => value !== undefined);
  return {
    ...{ createdAt, expiresAt, pinMac: hex(pinMac), keepsHistory: keepsHistory ? 1 : 0 },
    ...{ client: owner?.client ?? '', network: owner?.network ?? '' },
    ...(Object.fromEntries(optional) as Record<string, string | number>),
  };
}

export const hex = (bytes: Uint8Array | undefined): string => (bytes ? Buffer.from(bytes).toString('hex') : '');

export function roomOf(code: RoomCode, fields: readonly (string | null | undefined)[]): Room {
  const [createdAt, expiresAt, pinMac, fileCount, fileBytes, name, salt, extendMs] = fields;
  return {
    code,
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    hasPin: pinMac !== '' && !salt,
    ...(salt && { salt }),
    ...(extendMs && { extendMs: Number(extendMs) }),
    name: name ?? undefined,
    fileCount: Number(fileCount),
    fileBytes: Number(fileBytes),
  };
}

/** In an encrypted room, which has a salt, the entries since the full text are part of the text. */
function wholeTextOf(text: FullTextReply, salt: string | null | undefined): TextState {
  const { content, later, fullTextVersion } = textOf(text);
  const lastRefs = lastRefsOf(text, later);
  if (!salt) return { ...content, entries: [], lastRefs };
  return { ...content, contentVersion: fullTextVersion, entries: later, lastRefs };
}

/** Contains the text if there are no entries. */
type StateReply = [fields: string[], files: string[], entries: string[] | null, text: FullTextReply, links: string[]];

function stateOf(code: RoomCode, [fields, files, entries, text, links]: StateReply): RoomState {
  const [seq, pinAttempts, version, writtenAt] = fields.slice(8).map(Number) as [number, number, number, number];
  const pinMac = fields[2];
  return {
    room: roomOf(code, fields),
    seq,
    text: entries
      ? { version, writtenAt, content: undefined, entries: entries.map(entryOf) }
      : wholeTextOf(text, fields[6]),
    files: filesOf(files),
    pinAttempts,
    pinMac: pinMac ? Buffer.from(pinMac, 'hex') : undefined,
    links: linkIdsIn(links),
  };
}

/** The fields of a `Room`, as arguments of HMGET. Rooms without a name, and rooms that are not encrypted, lack a field. */
export const roomFields = "'createdAt', 'expiresAt', 'pinMac', 'fileCount', 'fileBytes', 'name', 'salt', 'extendMs'";

/** KEYS: all rooms by expiry. ARGV: draw, createdAt, expiresAt, then pairs of a length and up to how many rooms. */
const claimCodeScript = script(`
local live = redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[2], '+inf') + 1
for i = 4, #ARGV, 2 do
  if live <= tonumber(ARGV[i + 1]) then
    local code = string.sub(ARGV[1], 1, tonumber(ARGV[i]))
    if redis.call('ZADD', KEYS[1], 'NX', ARGV[3], code) == 0 then return false end
    return code
  end
end
return false
`);

/** With and without the record of the request for a new room. The record has the length of the claimed code. */
const claimCodeOnce = onceScripts(claimCodeScript, 'reply');

/** A recently expired room keeps its code, so that it is not confused with the new one. Further arguments: the fields. */
const createRoomScript = onKeys(
  'room, trusted, edits, history, historyTexts, links',
  'now, creator, keepMs, rememberExpiredMs',
).script(`
local formerly = redis.call('HGET', room, 'expiresAt')
if formerly and tonumber(formerly) > tonumber(now) - tonumber(rememberExpiredMs) then return 0 end
redis.call('DEL', unpack(KEYS))
redis.call('HSET', room, unpack(ARGV, 5))
redis.call('PEXPIRE', room, keepMs)
if creator ~= '' then
  redis.call('ZADD', trusted, now, creator)
  redis.call('PEXPIRE', trusted, keepMs)
end
return 1
`);

/** With and without the record of its request. */
const createRoomOnce = onceScripts(createRoomScript, 'reply == 1');

/** The entries since the known text, or the whole text if the log does not lead from there, or there are too many. */
const readStateScript = inLiveRoom(
  'room, files, edits, links',
  'now, knownVersion, knownWrittenAt',
).script<StateReply>(`${fullText}${entriesSince}
local fields = redis.call('HMGET', room, ${roomFields}, 'seq', 'pinAttempts', 'version', 'writtenAt')

local known, versions, entries = tonumber(knownVersion), textVersions(room), false
if known == versions.current then
  entries = fields[12] == knownWrittenAt and {}
elseif known and known < versions.current and versions.current - known <= 1000 then
  -- The entry of the known version shows whether it is the same text. A log that starts after it does not have it.
  entries = entriesSince(edits, versions, known - 1)
  if not entries then entries = entriesSince(edits, versions, known)
  elseif string.match(table.remove(entries, 1), '"writtenAt":(%d+)}$') ~= knownWrittenAt then entries = false end
end
local text = not entries and fullText(room, edits, 0)
return {fields, redis.call('HVALS', files), entries or false, text, redis.call('HKEYS', links)}
`);

/**
 * Sets the name, the PIN and the expiry if they are given; `extendMs` of 0 removes it. The client was admitted a moment
 * ago, so the comparison of the PINs reveals nothing new.
 */
const updateRoomScript = inLiveRoom(
  'room, guard, trusted, edits, history, historyTexts, uploads, uploadEnds, links',
  'now, admittedBy, setsPin, pinMac, client, setsName, name, expiresAt, keepMs, guardMs, uploadMs, code, isExtension, extendMs',
).script<[seq: number, fields: string[]] | 'pin-changed'>(`${fileIn}
if isExtension == '1' then
  local fields = redis.call('HMGET', room, 'extendMs', 'expiresAt')
  if not fields[1] or tonumber(fields[2]) >= tonumber(expiresAt) then return 'pin-changed' end
elseif redis.call('HGET', room, 'pinMac') ~= admittedBy then return 'pin-changed' end

if expiresAt ~= '' then
  redis.call('HSET', room, 'expiresAt', expiresAt)
  for i = 1, 6 do redis.call('PEXPIRE', KEYS[i], i == 2 and guardMs or keepMs) end
  redis.call('PEXPIRE', links, keepMs)
  local unfinished = redis.call('HGETALL', uploads)
  for i = 1, #unfinished, 2 do
    local endsAt = math.min(tonumber(expiresAt), fileIn(unfinished[i + 1]).uploadedAt + tonumber(uploadMs))
    redis.call('ZADD', uploadEnds, 'XX', string.format('%.0f', endsAt), code .. ' ' .. unfinished[i])
  end
end

if setsPin == '1' then
  redis.call('HSET', room, 'pinMac', pinMac, 'pinAttempts', 0)
  redis.call('DEL', guard, trusted)
  if pinMac ~= '' then
    redis.call('ZADD', trusted, now, client)
    redis.call('PEXPIRE', trusted, redis.call('PTTL', room))
  end
end

if extendMs == '0' then redis.call('HDEL', room, 'extendMs')
elseif extendMs ~= '' then redis.call('HSET', room, 'extendMs', extendMs) end

if setsName == '1' then
  if name == '' then redis.call('HDEL', room, 'name') else redis.call('HSET', room, 'name', name) end
end
return {redis.call('HINCRBY', room, 'seq', 1), redis.call('HMGET', room, ${roomFields})}
`);

/** The devices in rooms: those with a live channel, and those with a recent request. */
export function createDeviceList(redis: Redis, keys: Keys, rules: GuardRules) {
  const run = createRunner(redis, keys, rules);
  return {
    async attachDevice(code, { id, device }, now) {
      const { color: preferred, ...uncolored } = device;
      const limits = [rules.channelSeenMs, rules.devicesPerRoom, rules.deviceColors];
      const channel = [id, device.id, channelJson(uncolored, now), preferred ?? ''];
      const reply = await run(attachDeviceScript, code, now, ...limits, ...channel);
      if (reply === 'full') return reply;
      return reply === '' ? device : { ...device, color: reply };
    },

    async renewDevices(code, channels, now) {
      if (channels.length === 0) return;
      const pairs = channels.flatMap(({ id, device }) => [id, channelJson(device, now)]);
      const touched = keysFor(renewDevicesScript, keys, code);
      await redis.run(renewDevicesScript, touched, [2 * rules.channelSeenMs, ...pairs]);
    },

    async detachDevice(code, channelId) {
      const { channels } = keys.ofRoom(code);
      await redis.send(channels, ['HDEL', channels, channelId]);
    },

    async listDevices(code, now) {
      const [jsons, ids] = await run(listDevicesScript, code, now - rules.deviceSeenMs);
      return devicesOf(jsons, ids, now - rules.channelSeenMs).slice(0, rules.devicesPerRoom);
    },
  } satisfies Partial<RoomStore>;
}

type StoredChannel = Device & { renewedAt: number };

const channelJson = ({ id, name, role, color }: Device, now: number): string =>
  JSON.stringify({ id, name, role, color, renewedAt: now });

/** A device with both a channel and requests is listed once, with the name from its channel. */
function devicesOf(jsons: string[], seen: string[], renewedSince: number): Device[] {
  const devices = new Map<string, Device>();
  for (const json of jsons) {
    const { renewedAt, id, name, ...rest } = JSON.parse(json) as StoredChannel;
    if (renewedAt > renewedSince && !devices.get(id)?.name) devices.set(id, { id, name, ...rest });
  }
  for (const device of seen.map(seenDeviceOf)) if (!devices.has(device.id)) devices.set(device.id, device);
  return [...devices.values()];
}

/** The id alone, or for a device with access by a link also its role and the name of the link, which may be empty. */
function seenDeviceOf(member: string): Device {
  const [, id = '', role, name] = /^(\S+)(?: (\S+) (.*))?$/s.exec(member) ?? [];
  return { id, name: name || undefined, ...(role !== undefined && { role: role as NonNullable<Device['role']> }) };
}

/** Returns the colour; '' if the device prefers none. */
const attachDeviceScript = onKeys(
  'channels, colors',
  'now, channelSeenMs, devicesPerRoom, deviceColors, channelId, deviceId, uncolored, preferred',
).scriptWhenFull<number | '' | 'full'>(`
local gone = tonumber(now) - tonumber(channelSeenMs)
local devices, attached, count = {}, {}, 0
local all = redis.call('HGETALL', channels)
for i = 1, #all, 2 do
  local channel = cjson.decode(all[i + 1])
  if channel.renewedAt <= gone then redis.call('HDEL', channels, all[i])
  else
    if channel.color and channel.id ~= deviceId then attached[channel.color] = true end
    if not devices[channel.id] then
      devices[channel.id] = true
      count = count + 1
    end
  end
end
if count >= tonumber(devicesPerRoom) and not devices[deviceId] then return 'full' end
local color, json = preferred, uncolored
if color ~= '' then
  color = tonumber(redis.call('HGET', colors, deviceId) or -1)
  if color < 0 then
    local remembered, unattached = {}, nil
    for _, known in ipairs(redis.call('HVALS', colors)) do remembered[tonumber(known)] = true end
    for n = 0, tonumber(deviceColors) - 1 do
      local next = (tonumber(preferred) + n) % tonumber(deviceColors)
      if color < 0 and not attached[next] then
        unattached = unattached or next
        if not remembered[next] then color = next end
      end
    end
    if color < 0 then color = unattached or tonumber(preferred) end
  end
  if redis.call('HLEN', colors) >= tonumber(devicesPerRoom) then redis.call('DEL', colors) end
  redis.call('HSET', colors, deviceId, color)
  redis.call('PEXPIRE', colors, 2 * tonumber(channelSeenMs))
  json = '{"color":' .. color .. ',' .. string.sub(json, 2)
end
redis.call('HSET', channels, channelId, json)
redis.call('PEXPIRE', channels, 2 * tonumber(channelSeenMs))
return color
`);

/** Further arguments: pairs of the id of a channel and its json. */
const renewDevicesScript = onKeys('channels, colors', 'keepMs').scriptWhenFull(`
for i = 2, #ARGV, 2 do redis.call('HSET', channels, ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', channels, keepMs)
redis.call('PEXPIRE', colors, keepMs)
`);

const listDevicesScript = onKeys('channels, seen', 'seenSince').script<[channels: string[], seen: string[]]>(`
return {redis.call('HVALS', channels), redis.call('ZRANGEBYSCORE', seen, '(' .. seenSince, '+inf')}
`);
