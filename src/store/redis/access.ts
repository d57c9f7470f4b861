/** Access to rooms, with PINs and room keys, and the devices in them. */
import { randomBytes } from 'node:crypto';
import type { LinkRole } from '../../core/ports/links.ts';
import type { AccessAttempt, Device, GuardRules, Refusal, RoomStore } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import { guesserOf, networkOf } from '../client-counters.ts';
import { type Misses, settleLookup } from './counters.ts';
import { isLive, type Keys } from './keys.ts';
import { hex, roomFields, roomOf } from './rooms.ts';
import { contentOf, type FullTextReply, fullText, sealedTextOf } from './text.ts';

export type Access = Pick<RoomStore, 'admit' | 'read' | 'notePinAttempt'>;

export function createAccess(redis: Redis, keys: Keys, rules: GuardRules, misses: Misses): Access {
  const guardNumbers = [
    rules.triesBeforeLock,
    rules.firstLockMs,
    rules.longestLockMs,
    rules.wrongPinsPerRoom,
    rules.windowMs,
    rules.rememberExpiredMs,
    rules.deviceSeenMs,
    rules.devicesPerRoom,
    rules.wrongPinsPerLife,
    rules.wrongPinsOfNewNetworks,
    rules.keyCountersPerRoom,
  ];

  function checkAccess(attempt: AccessAttempt, wanted: 'room' | 'text'): Promise<Entry> {
    const { code } = attempt;
    return code && !redis.isCluster && rules.missesPerClient > 0
      ? checkInOneStep(code, attempt, wanted)
      : checkInSteps(attempt, wanted);
  }

  /** Counts misses and enters the room in one script, whose keys a cluster would not accept. */
  async function checkInOneStep(code: RoomCode, attempt: AccessAttempt, wanted: 'room' | 'text'): Promise<Entry> {
    const lockedOutUntil = misses.lockedOutUntil(attempt);
    if (lockedOutUntil !== undefined && !attempt.keyHash) return { outcome: 'too-many-misses', until: lockedOutUntil };
    const counting = misses.counting(attempt);
    const touched = keysToEnter(code, wanted);
    const args = [...argumentsOf(attempt, undefined, wanted), ...counting.args];
    const reply = await redis.run(enterCountedScript, [...touched, ...counting.keys], args);
    const [entry, isLockedOut, until, started] = reply as [EntryReply, number, string, number];
    counting.note(Number(until), started);
    return isLockedOut === 1 ? { outcome: 'too-many-misses', until: Number(until) } : entryOf(code, entry);
  }

  async function checkInSteps(attempt: AccessAttempt, wanted: 'room' | 'text'): Promise<Entry> {
    const { code } = attempt;
    const before =
      misses.lockedOutUntil(attempt) ?? (hasSideEffects(attempt) ? await misses.settle(attempt, 0) : undefined);
    if (before !== undefined && !(code && attempt.keyHash)) return { outcome: 'too-many-misses', until: before };
    const access: Entry = code ? await enter(code, attempt, wanted, before) : { outcome: 'unknown' };
    // A room key cannot be guessed, so the right one is admitted even from a client with too many misses.
    if (access.outcome === 'admitted' && access.isEncrypted) return access;
    if (before !== undefined) return { outcome: 'too-many-misses', until: before };
    const missed = access.outcome === 'unknown' || access.outcome === 'pin-incorrect';
    const after = await misses.settle(attempt, missed ? 1 : 0);
    return after === undefined ? access : { outcome: 'too-many-misses', until: after };
  }

  /** `lockedOutUntil`: set if the client has too many misses. */
  async function enter(
    code: RoomCode,
    attempt: AccessAttempt,
    wanted: 'room' | 'text',
    lockedOutUntil: number | undefined,
  ): Promise<Entry> {
    const args = argumentsOf(attempt, lockedOutUntil, wanted);
    return entryOf(code, (await redis.run(enterRoomScript, keysToEnter(code, wanted), args)) as EntryReply);
  }

  function keysToEnter(code: RoomCode, wanted: 'room' | 'text'): string[] {
    const { room, guard, trusted, seen, edits } = keys.ofRoom(code);
    return [room, guard, trusted, seen, wanted === 'text' ? edits : room];
  }

  function argumentsOf(
    attempt: AccessAttempt,
    lockedOutUntil: number | undefined,
    wanted: 'room' | 'text',
  ): (string | number)[] {
    const { pinMac, keyHash, deviceId, now } = attempt;
    const client = guesserOf(attempt);
    const hasProof = pinMac !== undefined || keyHash !== undefined;
    const salt = hasProof ? randomBytes(8).toString('hex') : '';
    const network = hasProof ? networkOf(client) : '';
    const proof = [client, hex(pinMac), salt, deviceId ?? '', now, ...guardNumbers, network, hex(keyHash)];
    return [...proof, lockedOutUntil === undefined ? 0 : 1, wanted === 'text' ? 1 : 0];
  }

  return {
    async admit(attempt) {
      const access = await checkAccess(attempt, 'room');
      if (access.outcome !== 'admitted') return access;
      return { outcome: 'admitted', room: roomOf(access.code, access.found as string[]) };
    },

    async read(attempt) {
      const access = await checkAccess(attempt, 'text');
      if (access.outcome !== 'admitted') return access;
      const found = access.found as FullTextReply;
      return { outcome: 'admitted', ...(access.isEncrypted ? sealedTextOf(found) : { content: contentOf(found) }) };
    },

    async notePinAttempt(code, now) {
      const seq = await redis.run(notePinAttemptScript, [keys.ofRoom(code).room], [now]);
      return seq === null ? undefined : { seq: Number(seq) };
    },
  };
}

type EntryReply = [outcome: string, ...rest: unknown[]];

function entryOf(code: RoomCode, [outcome, ...rest]: EntryReply): Entry {
  switch (outcome) {
    case 'in':
      return { outcome: 'admitted', code, found: rest[0], isEncrypted: rest[1] === 1 };
    case 'locked':
      return {
        outcome: 'pin-locked',
        until: Number(rest[0]),
        ...(rest[1] === 1 && { isForLife: true }),
        ...keyFlag(rest[2]),
      };
    case 'wrong':
      return {
        outcome: 'pin-incorrect',
        triesLeft: Number(rest[0]),
        lockedUntil: Number(rest[1]) || undefined,
        ...keyFlag(rest[2]),
      };
    case 'key-required':
      return { outcome: 'key-required', salt: String(rest[0]) };
    default:
      return { outcome: outcome as 'unknown' | 'expired' | 'pin-required' };
  }
}

/** `found` contains the fields of the room or its text, as requested. */
type Entry = { outcome: 'admitted'; code: RoomCode; found: unknown; isEncrypted: boolean } | Refusal;

/** Whether an attempt changes counters or devices. Otherwise the lockout is checked afterwards, in one step less. */
const hasSideEffects = ({ pinMac, keyHash, deviceId }: AccessAttempt): boolean =>
  pinMac !== undefined || keyHash !== undefined || deviceId !== undefined;

const keyFlag = (isKey: unknown) => (isKey === 1 ? ({ isKey: true } as const) : {});

type DeviceList = Pick<RoomStore, 'attachDevice' | 'renewDevices' | 'detachDevice' | 'listDevices'>;

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

interface StoredChannel extends Device {
  renewedAt: number;
}

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
 * Checks access to a room. Counting and checking are one step, so no concurrent attempt is missed. Both hashes of the
 * PIN or key are hashed again with a salt of this call, so that the time of the comparison reveals nothing about them.
 *
 * KEYS: room, guard, trusted, seen, edits. ARGV: client, pinMac or '', salt, deviceId or
 * '', now, triesBeforeLock, firstLockMs, longestLockMs, wrongPinsPerRoom, windowMs, rememberExpiredMs, deviceSeenMs,
 * devicesPerRoom, wrongPinsPerLife, wrongPinsOfNewNetworks, keyCountersPerRoom, the client's network, keyHash or '', 1
 * if the client has too many misses, 1 if the text is requested. A client with too many misses is admitted only with
 * the right key, and otherwise changes nothing.
 * Returns the text if it is requested, and the fields of the room otherwise, and 1 if the room is encrypted.
 *
 * The guard has the wrong PINs of the window and of the room's lifetime, the attempts of each client (client:…), the
 * networks of unknown clients with a wrong PIN (net:…), their attempts in spite of a lock, and wrong PINs of trusted
 * clients. That of an encrypted room has only the attempts of each client: nobody can guess a room key, so wrong ones
 * lock out only the client that sends them, and the right one is always admitted.
 */
const enterRoom = `${fullText}
local function enterRoom(isLockedOut)
local now = tonumber(ARGV[5])
local room = redis.call('HMGET', KEYS[1], 'expiresAt', 'pinMac', 'pinAttempts', 'salt')
if not room[1] then return {'unknown'} end
local expiresAt = tonumber(room[1])
if expiresAt <= now then
  if expiresAt > now - tonumber(ARGV[11]) then return {'expired'} end
  return {'unknown'}
end

-- An encrypted room has a salt, and the verifier of its key instead of a PIN.
local isKey, proof = room[4] and 1 or 0, room[4] and ARGV[18] or ARGV[2]
local isRight = proof ~= '' and redis.sha1hex(room[2] .. ARGV[3]) == redis.sha1hex(proof .. ARGV[3])
if isLockedOut and not (room[4] and isRight) then return {'unknown'} end

local function forgetCounters()
  local all = redis.call('HGETALL', KEYS[2])
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 7) == 'client:' and cjson.decode(all[i + 1]).forgetAt <= now then
      redis.call('HDEL', KEYS[2], all[i])
    end
  end
end

-- Further clients with wrong keys share one counter.
local function keyCounter(own)
  local most = tonumber(ARGV[16])
  if redis.call('HEXISTS', KEYS[2], own) == 1 or redis.call('HLEN', KEYS[2]) < most then return own end
  forgetCounters()
  return redis.call('HLEN', KEYS[2]) < most and own or 'client:*'
end

if room[2] ~= '' then
  if proof == '' then return room[4] and {'key-required', room[4]} or {'pin-required'} end
  local windowMs, keepMs = tonumber(ARGV[10]), expiresAt - now + tonumber(ARGV[10])
  local counter = 'client:' .. ARGV[1]
  if room[4] and not isRight then counter = keyCounter(counter) end
  local guard = redis.call('HMGET', KEYS[2], 'wrong', 'windowEndsAt', counter, 'life', 'ofNewNetworks',
    'net:' .. ARGV[17], 'trusted:' .. ARGV[1])
  local tries = guard[3] and cjson.decode(guard[3]) or {wrong = 0, lockedUntil = 0}
  if tries.forgetAt and tries.forgetAt <= now then tries = {wrong = 0, lockedUntil = 0} end
  if tries.lockedUntil > now and not (room[4] and isRight) then
    return {'locked', string.format('%.0f', tries.lockedUntil), 0, isKey}
  end

  local wrong, windowEndsAt = tonumber(guard[1] or 0), tonumber(guard[2] or 0)
  local life, ofNewNetworks = math.max(tonumber(guard[4] or 0), tonumber(room[3] or 0)), tonumber(guard[5] or 0)
  local isKnown, isTrusted, isShut
  if not room[4] then
    local perLife, forNewNetworks = tonumber(ARGV[14]), tonumber(ARGV[15])
    isKnown = redis.call('ZSCORE', KEYS[3], ARGV[1])
    isTrusted = isKnown and tonumber(guard[7] or 0) < perLife
    local isForLife = life - ofNewNetworks >= perLife - forNewNetworks
    isShut = isForLife or (windowEndsAt > now and wrong >= tonumber(ARGV[9]))
    local hasSpareTry = life < perLife and ofNewNetworks < forNewNetworks and not guard[6]
    if isShut and not isTrusted and not hasSpareTry then
      return {'locked', string.format('%.0f', isForLife and expiresAt or windowEndsAt), isForLife and 1 or 0, isKey}
    end
  end

  if not isRight then
    tries.wrong = tries.wrong + 1
    local locks = tries.wrong - tonumber(ARGV[6])
    if locks >= 0 then
      tries.lockedUntil = now + math.min(tonumber(ARGV[7]) * 2 ^ math.min(locks, 40), tonumber(ARGV[8]))
    end
    tries.forgetAt = math.max(now, tries.lockedUntil) + windowMs
    if redis.call('HLEN', KEYS[2]) > 400 then forgetCounters() end
    redis.call('HSET', KEYS[2], counter, cjson.encode(tries))
    if not room[4] then
      if windowEndsAt <= now then wrong, windowEndsAt = 0, now + windowMs end
      redis.call('HSET', KEYS[2], 'wrong', wrong + 1, 'windowEndsAt', string.format('%.0f', windowEndsAt),
        'life', life + 1)
      if isTrusted then
        redis.call('HINCRBY', KEYS[2], 'trusted:' .. ARGV[1], 1)
      else
        redis.call('HSET', KEYS[2], 'net:' .. ARGV[17], 1)
        if isShut then redis.call('HINCRBY', KEYS[2], 'ofNewNetworks', 1) end
      end
    end
    redis.call('PEXPIRE', KEYS[2], string.format('%.0f', keepMs))
    local left = math.max(0, tonumber(ARGV[6]) - tries.wrong)
    return {'wrong', left, tries.lockedUntil > now and string.format('%.0f', tries.lockedUntil) or '0', isKey}
  end

  if guard[3] then redis.call('HDEL', KEYS[2], counter) end
  if not room[4] and not isKnown then
    redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
    redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1001)
    redis.call('PEXPIRE', KEYS[3], string.format('%.0f', keepMs))
  end
end

if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[4], ARGV[5], ARGV[4])
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -(tonumber(ARGV[13]) + 1))
  redis.call('PEXPIRE', KEYS[4], 2 * tonumber(ARGV[12]))
end
if ARGV[20] == '1' then return {'in', fullText(KEYS[1], KEYS[5]), isKey} end
return {'in', redis.call('HMGET', KEYS[1], ${roomFields}), isKey}
end
`;

const enterRoomScript = scriptWhenFull(`${enterRoom}
return enterRoom(ARGV[19] == '1')
`);

/**
 * The same, and counts misses: no concurrent attempt reveals more than the limit allows. A room key cannot be guessed,
 * so the right one is admitted even from a client with too many misses.
 *
 * Two more KEYS: the misses of the client, and those it shares with others. Four more ARGV: the limit of misses,
 * windowMs, the limit for cross-site requests or 0, 1 if the client's own counter may be started. Returns the entry,
 * whether the client is locked out instead, until when, and whether its own counter was started.
 */
const enterCountedScript = scriptWhenFull(`${settleLookup}${enterRoom}
local now, limit, windowMs, share = tonumber(ARGV[5]), tonumber(ARGV[21]), tonumber(ARGV[22]), tonumber(ARGV[23])
local function settle(isMiss)
  return settleLookup(KEYS[6], isMiss, now, limit, windowMs, share, ARGV[24] == '1')
    or settleLookup(KEYS[7], isMiss, now, limit, windowMs, share, true)
end
local before = settle(false)
if before[1] == 1 then
  local entry = ARGV[18] ~= '' and enterRoom(true) or {'unknown'}
  return {entry, entry[1] == 'in' and 0 or 1, before[2], 0}
end
local entry = enterRoom(false)
if entry[1] ~= 'unknown' and entry[1] ~= 'wrong' then return {entry, 0, '0', 0} end
local after = settle(true)
return {entry, 0, after[2], after[3]}
`);

/** KEYS: room. ARGV: now. */
const notePinAttemptScript = scriptWhenFull(`${isLive}
if not isLive(KEYS[1], ARGV[1]) then return false end
redis.call('HINCRBY', KEYS[1], 'pinAttempts', 1)
return redis.call('HINCRBY', KEYS[1], 'seq', 1)
`);

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
