/** Rooms in Redis, and the devices in them. Each method is one script if all its keys have one hash tag. */
import type { FinishedRequest, MissingReason, Repeated, RequestRecord, Room } from '../../core/ports/basics.ts';
import type { LinkRole } from '../../core/ports/links.ts';
import type { Device, GuardRules, RoomDraft, RoomState, RoomStore, RoomUpdate } from '../../core/ports/rooms.ts';
import type { TextState } from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import { guesserOf } from '../client-counters.ts';
import { fileIn, filesOf } from './files.ts';
import { createIdempotencyStore, createRunOnce, forgetClaim, onceScripts, repeatedIn } from './idempotency.ts';
import { type Keys, linkIdsIn, netMs, returnIfMissing } from './keys.ts';
import type { RedisStorage } from './quota.ts';
import { createRoomExpiry } from './room-expiry.ts';
import { contentOf, entryOf, type FullTextReply, fullText, lastRefsOf } from './text.ts';

export type Rooms = Pick<
  RoomStore,
  'createRoom' | 'readState' | 'updateRoom' | 'deleteRoom' | 'expireRooms' | 'countRooms'
>;

export function createRooms(redis: Redis, keys: Keys, rules: GuardRules, storage: RedisStorage): Rooms {
  const expiry = createRoomExpiry(redis, keys, rules, storage);
  const runOnce = createRunOnce(redis, keys);
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
    const { createdAt, expiresAt, pinMac, creator, owner, countsText, keepsHistory } = draft;
    const { room, trusted, edits, history, historyTexts, links } = keys.ofRoom(code);
    const keepMs = expiresAt - createdAt + rules.rememberExpiredMs + netMs;
    const times = [createdAt, expiresAt, hex(pinMac), creator, keepMs, rules.rememberExpiredMs];
    const args = [...times, keepsHistory ? 1 : 0, owner?.client ?? '', owner?.network ?? '', countsText ? 0 : ''];
    args.push(draft.name ?? '', draft.salt ?? '', draft.createdBy ?? '', draft.extendMs ?? '');
    const request = { record, room: code, now: createdAt };
    return runOnce(createRoomOnce, [room, trusted, edits, history, historyTexts, links], args, request);
  }

  /** In one step for the room itself, including its guards. */
  async function update(code: RoomCode, change: RoomUpdate, now: number) {
    const { room, guard, trusted, edits, history, historyTexts, uploads, uploadEnds, links } = keys.ofRoom(code);
    const { expiresAt, pinMac, name, admittedBy, uploadLifetimeMs, extendMs, isExtension } = change;
    const left = (expiresAt ?? 0) - now;
    const touched = [room, guard, trusted, edits, history, historyTexts, uploads, uploadEnds, links];
    const reply = await redis.run(updateRoomScript, touched, [
      ...[now, rules.rememberExpiredMs, hex(admittedBy)],
      ...[pinMac === undefined ? '' : 1, hex(pinMac ?? undefined), guesserOf(change)],
      ...[name === undefined ? '' : 1, name ?? ''],
      ...[expiresAt ?? '', left + rules.rememberExpiredMs + netMs, left + rules.windowMs, uploadLifetimeMs, code],
      ...[isExtension ? 1 : '', extendMs === undefined ? '' : (extendMs ?? 0)],
    ]);
    if (typeof reply === 'string') return reply as 'pin-changed' | MissingReason;
    const [seq, fields] = reply as [number, string[]];
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
      const { room, files, edits, links } = keys.ofRoom(code);
      const args = [now, rules.rememberExpiredMs, known?.version ?? '', known?.writtenAt ?? ''];
      const reply = await redis.run(readStateScript, [room, files, edits, links], args);
      return typeof reply === 'string' ? (reply as MissingReason) : stateOf(code, reply as StateReply);
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
  };
}

type Claim = { code: RoomCode; isListed: boolean } | Repeated | { claimed: FinishedRequest } | undefined;

export const hex = (bytes: Uint8Array | undefined): string => (bytes ? Buffer.from(bytes).toString('hex') : '');

type RoomFields = readonly (string | null | undefined)[];

export function roomOf(code: RoomCode, fields: RoomFields): Room {
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
  const content = contentOf(text);
  const [, , , log, contentVersion, refs] = text;
  const entries = (log ?? []).map(entryOf);
  const lastRefs = lastRefsOf(refs, entries);
  return salt ? { ...content, contentVersion, entries, lastRefs } : { ...content, entries: [], lastRefs };
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

/**
 * A recently expired room keeps its code, so that it is not confused with the new one.
 * KEYS: room, trusted, edits, history, history texts, links. ARGV: createdAt, expiresAt, pinMac or '', creator, milliseconds to
 * keep, rememberExpiredMs, 1 if it keeps the history of its text, client and network of the owner or '', 0 if the text
 * counts for them or '', name or '', salt or '', who created it or ''.
 */
const createRoomScript = script(`
local formerly = redis.call('HGET', KEYS[1], 'expiresAt')
if formerly and tonumber(formerly) > tonumber(ARGV[1]) - tonumber(ARGV[6]) then return 0 end
redis.call('DEL', unpack(KEYS))
redis.call('HSET', KEYS[1], 'createdAt', ARGV[1], 'expiresAt', ARGV[2], 'pinMac', ARGV[3], 'seq', 0, 'version', 0,
  'textVersion', 0, 'logVersion', 0, 'writtenAt', ARGV[1], 'content', '', 'keepsHistory', ARGV[7], 'fileCount', 0,
  'fileBytes', 0, 'pinAttempts', 0, 'client', ARGV[8], 'network', ARGV[9],
  'textCharge', ARGV[10])
if ARGV[11] ~= '' then redis.call('HSET', KEYS[1], 'name', ARGV[11]) end
if ARGV[12] ~= '' then redis.call('HSET', KEYS[1], 'salt', ARGV[12]) end
if ARGV[13] ~= '' then redis.call('HSET', KEYS[1], 'createdBy', ARGV[13]) end
if ARGV[14] ~= '' then redis.call('HSET', KEYS[1], 'extendMs', ARGV[14]) end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if ARGV[3] ~= '' and ARGV[12] == '' then
  redis.call('ZADD', KEYS[2], ARGV[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return 1
`);

/** With and without the record of its request. */
const createRoomOnce = onceScripts(createRoomScript, 'reply == 1');

/**
 * KEYS: room, files, edits, links. ARGV: now, rememberExpiredMs, the version of the reader's text or '', when it was written.
 * Returns the entries since then, or the whole text if the log does not lead from there, or there are too many.
 */
const readStateScript = script(`${returnIfMissing}${fullText}
local room = redis.call('HMGET', KEYS[1], ${roomFields}, 'seq', 'pinAttempts', 'version', 'writtenAt')
local files = redis.call('HVALS', KEYS[2])

local known, versions, entries = tonumber(ARGV[3]), textVersions(KEYS[1]), false
if known == versions.current then
  entries = room[12] == ARGV[4] and {}
elseif known and known < versions.current and versions.current - known <= 1000 then
  -- The entry of the known version shows whether it is the same text. A log that starts after it does not have it.
  entries = entriesSince(KEYS[3], versions, known - 1)
  if not entries then entries = entriesSince(KEYS[3], versions, known)
  elseif string.match(table.remove(entries, 1), '"writtenAt":(%d+)}$') ~= ARGV[4] then entries = false end
end
return {room, files, entries or false, not entries and fullText(KEYS[1], KEYS[3]), redis.call('HKEYS', KEYS[4])}
`);

/**
 * KEYS: room, guard, trusted, edits, history, history texts, unfinished files, ends of uploads, links. ARGV:
 * now, rememberExpiredMs, the pinMac that the client was admitted with or ''; 1 to set the PIN, the pinMac or '', the client;
 * 1 to set the name, the name or ''; the expiry or '', milliseconds to keep the room, milliseconds to keep the guard, how
 * long an upload may be unfinished, code; 1 if a write moves the expiry; extendMs, 0 to remove it, or ''. Returns the seq and the fields of the room.
 *
 * The client was admitted a moment ago, so the comparison of the PINs reveals nothing new.
 */
const updateRoomScript = script(`${returnIfMissing}${fileIn}
if ARGV[14] == '1' then
  local room = redis.call('HMGET', KEYS[1], 'extendMs', 'expiresAt')
  if not room[1] or tonumber(room[2]) >= tonumber(ARGV[9]) then return 'pin-changed' end
elseif redis.call('HGET', KEYS[1], 'pinMac') ~= ARGV[3] then return 'pin-changed' end

if ARGV[9] ~= '' then
  redis.call('HSET', KEYS[1], 'expiresAt', ARGV[9])
  for i = 1, 6 do redis.call('PEXPIRE', KEYS[i], i == 2 and ARGV[11] or ARGV[10]) end
  redis.call('PEXPIRE', KEYS[9], ARGV[10])
  local uploads = redis.call('HGETALL', KEYS[7])
  for i = 1, #uploads, 2 do
    local endsAt = math.min(tonumber(ARGV[9]), fileIn(uploads[i + 1]).uploadedAt + tonumber(ARGV[12]))
    redis.call('ZADD', KEYS[8], 'XX', string.format('%.0f', endsAt), ARGV[13] .. ' ' .. uploads[i])
  end
end

if ARGV[4] == '1' then
  redis.call('HSET', KEYS[1], 'pinMac', ARGV[5], 'pinAttempts', 0)
  redis.call('DEL', KEYS[2], KEYS[3])
  if ARGV[5] ~= '' then
    redis.call('ZADD', KEYS[3], ARGV[1], ARGV[6])
    redis.call('PEXPIRE', KEYS[3], redis.call('PTTL', KEYS[1]))
  end
end

if ARGV[15] == '0' then redis.call('HDEL', KEYS[1], 'extendMs')
elseif ARGV[15] ~= '' then redis.call('HSET', KEYS[1], 'extendMs', ARGV[15]) end

if ARGV[7] == '1' then
  if ARGV[8] == '' then redis.call('HDEL', KEYS[1], 'name') else redis.call('HSET', KEYS[1], 'name', ARGV[8]) end
end
return {redis.call('HINCRBY', KEYS[1], 'seq', 1), redis.call('HMGET', KEYS[1], ${roomFields})}
`);

type DeviceList = Pick<RoomStore, 'attachDevice' | 'renewDevices' | 'detachDevice' | 'listDevices'>;

/** The devices in rooms: those with a live channel, and those with a recent request. */
export function createDeviceList(redis: Redis, keys: Keys, rules: GuardRules): DeviceList {
  return {
    async attachDevice(code, { id, device }, now) {
      const { color: preferred, ...uncolored } = device;
      const { channels, colors } = keys.ofRoom(code);
      const limits = [now, rules.channelSeenMs, rules.devicesPerRoom, rules.deviceColors];
      const args = [...limits, id, device.id, channelJson(uncolored, now), preferred ?? ''];
      const reply = (await redis.run(attachDeviceScript, [channels, colors], args)) as number | '' | 'full';
      if (reply === 'full') return reply;
      return reply === '' ? device : { ...device, color: reply };
    },

    async renewDevices(code, channels, now) {
      if (channels.length === 0) return;
      const pairs = channels.flatMap(({ id, device }) => [id, channelJson(device, now)]);
      const roomKeys = keys.ofRoom(code);
      await redis.run(renewDevicesScript, [roomKeys.channels, roomKeys.colors], [2 * rules.channelSeenMs, ...pairs]);
    },

    async detachDevice(code, channelId) {
      const { channels } = keys.ofRoom(code);
      await redis.send(channels, ['HDEL', channels, channelId]);
    },

    async listDevices(code, now) {
      const { channels, seen } = keys.ofRoom(code);
      const reply = await redis.run(listDevicesScript, [channels, seen], [now - rules.deviceSeenMs]);
      const [jsons, ids] = reply as [string[], string[]];
      return devicesOf(jsons, ids, now - rules.channelSeenMs).slice(0, rules.devicesPerRoom);
    },
  };
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
  return { id, name: name || undefined, ...(role !== undefined && { role: role as LinkRole }) };
}

/**
 * KEYS: channels, colors. ARGV: now, channelSeenMs, devicesPerRoom, deviceColors, channel id, device id, json, preferred
 * colour or ''. Returns the colour, '' if the device prefers none, or 'full'.
 */
const attachDeviceScript = scriptWhenFull(`
local gone = tonumber(ARGV[1]) - tonumber(ARGV[2])
local devices, attached, count = {}, {}, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local channel = cjson.decode(all[i + 1])
  if channel.renewedAt <= gone then redis.call('HDEL', KEYS[1], all[i])
  else
    if channel.color and channel.id ~= ARGV[6] then attached[channel.color] = true end
    if not devices[channel.id] then
      devices[channel.id] = true
      count = count + 1
    end
  end
end
if count >= tonumber(ARGV[3]) and not devices[ARGV[6]] then return 'full' end
local color, json = ARGV[8], ARGV[7]
if color ~= '' then
  color = tonumber(redis.call('HGET', KEYS[2], ARGV[6]) or -1)
  if color < 0 then
    local remembered, unattached = {}, nil
    for _, known in ipairs(redis.call('HVALS', KEYS[2])) do remembered[tonumber(known)] = true end
    for n = 0, tonumber(ARGV[4]) - 1 do
      local next = (tonumber(ARGV[8]) + n) % tonumber(ARGV[4])
      if color < 0 and not attached[next] then
        unattached = unattached or next
        if not remembered[next] then color = next end
      end
    end
    if color < 0 then color = unattached or tonumber(ARGV[8]) end
  end
  if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then redis.call('DEL', KEYS[2]) end
  redis.call('HSET', KEYS[2], ARGV[6], color)
  redis.call('PEXPIRE', KEYS[2], 2 * tonumber(ARGV[2]))
  json = '{"color":' .. color .. ',' .. string.sub(json, 2)
end
redis.call('HSET', KEYS[1], ARGV[5], json)
redis.call('PEXPIRE', KEYS[1], 2 * tonumber(ARGV[2]))
return color
`);

/** KEYS: channels, colors. ARGV: milliseconds to keep, then pairs of a channel id and its json. */
const renewDevicesScript = scriptWhenFull(`
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
`);

/** KEYS: channels, seen. ARGV: the time since which requests count. */
const listDevicesScript = script(`
return {redis.call('HVALS', KEYS[1]), redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf')}
`);
