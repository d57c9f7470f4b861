/** Access to rooms, with PINs and room keys, and the texts that clients read. */
import { randomBytes } from 'node:crypto';
import type { ClientId, MaybePromise } from '../../core/ports/basics.ts';
import type { AccessAttempt, GuardRules, Refusal, RoomStore, SealedLog } from '../../core/ports/rooms.ts';
import type { Content } from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { scriptWhenFull } from '../../redis/script.ts';
import { guesserOf, networkOf } from '../client-counters.ts';
import { Generations } from '../generations.ts';
import { type Misses, type Requests, type SpendReply, settleLookup, spendRequest } from './counters.ts';
import { createRunner, isLive, type Keys, onKeys } from './keys.ts';
import { hex, roomFields, roomOf } from './rooms.ts';
import { type FullTextReply, fullText, textOf } from './text.ts';

export function createAccess(redis: Redis, keys: Keys, rules: GuardRules, requests: Requests, misses: Misses) {
  const run = createRunner(redis, keys, rules);
  const texts = new ReadTexts();
  const scripts = enterScripts(rules);
  /** Clients with accesses that run in steps. */
  const running = new Map<ClientId, number>();

  function checkAccess(attempt: AccessAttempt, wanted: Wanted): Promise<Entry> {
    const { code } = attempt;
    return code && !redis.isCluster ? checkInOneStep(code, attempt, wanted) : checkInSteps(attempt, wanted);
  }

  /** Counts the request and its misses, and enters the room, in one script, whose keys a cluster would not accept. */
  async function checkInOneStep(code: RoomCode, attempt: AccessAttempt, wanted: Wanted): Promise<Entry> {
    const lockedOutUntil = misses.lockedOutUntil(attempt);
    if (lockedOutUntil !== undefined && !attempt.keyHash) return { outcome: 'too-many-misses', until: lockedOutUntil };
    const { spending } = attempt;
    const known = wanted === 'text' ? texts.get(code) : undefined;
    const ofMisses = misses.counting(attempt);
    const ofRequests = spending && spending.counted === undefined ? requests.counting(spending) : undefined;
    const touched = [...keys.toEnter(code), ...ofMisses.keys];
    const args = [...argumentsOf(attempt, wanted, known), ...ofMisses.args];
    if (ofRequests) {
      touched.push(...ofRequests.keys);
      args.push(...ofRequests.args);
    }
    const replying = redis.run(scripts.counted, touched, args) as Promise<CountedReply>;
    if (spending && ofRequests) {
      const counted = replying.then(([, , , , spent]) => ofRequests.allowanceOf(spent as SpendReply));
      spending.counted = counted;
      const allowance = await counted;
      if (!allowance.granted) return { outcome: 'over-limit', quota: spending.quota, allowance };
    }
    const [entry, isLockedOut, until, started] = await replying;
    ofMisses.note(Number(until), started);
    return isLockedOut === 1 ? { outcome: 'too-many-misses', until: Number(until) } : entryOf(code, entry, known);
  }

  /**
   * The same for a cluster, and for input that cannot be a code. An attempt without side effects enters the room while
   * the request is counted, in one round trip.
   */
  async function checkInSteps(attempt: AccessAttempt, wanted: Wanted): Promise<Entry> {
    const { code, client, keyHash } = attempt;
    const lockedOutUntil = misses.lockedOutUntil(attempt);
    if (lockedOutUntil !== undefined && !(code && keyHash))
      return { outcome: 'too-many-misses', until: lockedOutUntil };
    const isOnly = !running.has(client);
    running.set(client, (running.get(client) ?? 0) + 1);
    try {
      return await checkRunning(attempt, wanted, isOnly);
    } finally {
      const left = (running.get(client) ?? 1) - 1;
      if (left > 0) running.set(client, left);
      else running.delete(client);
    }
  }

  /** `isOnly`: no other access of the client is running on this node. */
  async function checkRunning(attempt: AccessAttempt, wanted: Wanted, isOnly: boolean): Promise<Entry> {
    const { code } = attempt;
    const enterUnless = (isLockedOut: boolean): MaybePromise<Entry> =>
      code ? enter(code, attempt, wanted, isLockedOut) : { outcome: 'unknown' };
    const counting = Promise.all([countRequest(attempt), misses.count(attempt, 0)]);
    const early = hasSideEffects(attempt) ? undefined : enterUnless(false);
    const [[overLimit, before], entered] = await Promise.all([counting, early]);
    if (overLimit) return overLimit;
    const isLockedOut = before.until !== undefined;
    if (isLockedOut && !(code && attempt.keyHash)) return { outcome: 'too-many-misses', until: before.until as number };
    const access = entered ?? (await enterUnless(isLockedOut));
    // A room key cannot be guessed, so the right one is admitted even from a client with too many misses.
    if (access.outcome === 'admitted' && access.isEncrypted) return access;
    if (isLockedOut) return { outcome: 'too-many-misses', until: before.until as number };
    const missed = access.outcome === 'unknown' || access.outcome === 'pin-incorrect';
    // Concurrent attempts must not reveal more than the limit allows. One per node cannot, because its miss counts.
    if (!missed && isOnly && before.count === 0) return access;
    const { until: after } = await misses.count(attempt, missed ? 1 : 0);
    return after === undefined ? access : { outcome: 'too-many-misses', until: after };
  }

  async function countRequest({ spending }: AccessAttempt): Promise<Refusal | undefined> {
    if (!spending || spending.counted !== undefined) return undefined;
    const { client, quota, now } = spending;
    spending.counted = requests.take(client, quota, now);
    const allowance = await spending.counted;
    return allowance.granted ? undefined : { outcome: 'over-limit', quota, allowance };
  }

  async function enter(code: RoomCode, attempt: AccessAttempt, wanted: Wanted, isLockedOut: boolean): Promise<Entry> {
    const known = wanted === 'text' ? texts.get(code) : undefined;
    const args = [...argumentsOf(attempt, wanted, known), isLockedOut ? 1 : 0];
    return entryOf(code, (await redis.run(scripts.plain, keys.toEnter(code), args)) as EntryReply, known);
  }

  function argumentsOf(attempt: AccessAttempt, wanted: Wanted, known: ReadText | undefined): (string | number)[] {
    const { pinMac, keyHash, deviceId, now } = attempt;
    const client = guesserOf(attempt);
    const hasProof = pinMac !== undefined || keyHash !== undefined;
    const salt = hasProof ? randomBytes(8).toString('hex') : '';
    const network = hasProof ? networkOf(client) : '';
    const proof = [client, hex(pinMac), salt, deviceId ?? '', now, network, hex(keyHash)];
    return [...proof, wanted === 'text' ? 1 : 0, known?.tag ?? ''];
  }

  /** The text that the script returned, or the known one if it is still current. */
  function readTextOf({ code, found, isEncrypted, known }: Admitted): ReadText {
    if (found === null && known) return known;
    const [tag, text] = found as [string, FullTextReply];
    const { content, later: entries, fullTextVersion: contentVersion } = textOf(text);
    const read = { tag, content, ...(isEncrypted && { sealed: { contentVersion, entries } }) };
    texts.put(code, read);
    return read;
  }

  return {
    async admit(attempt) {
      const access = await checkAccess(attempt, 'room');
      if (access.outcome !== 'admitted') return access;
      return { outcome: 'admitted', room: roomOf(access.code, access.found as string[]) };
    },

    async read(attempt) {
      const access = await checkAccess(attempt, 'text');
      if (attempt.code && (access.outcome === 'unknown' || access.outcome === 'expired')) texts.drop(attempt.code);
      if (access.outcome !== 'admitted') return access;
      const { content, sealed } = readTextOf(access);
      return sealed ? { outcome: 'admitted', content, sealed } : { outcome: 'admitted', content };
    },

    async notePinAttempt(code, now) {
      const seq = await run(notePinAttemptScript, code, now);
      return seq === null ? undefined : { seq };
    },
  } satisfies Partial<RoomStore>;
}

type Wanted = 'room' | 'text';

type EntryReply = [outcome: string, ...rest: unknown[]];

/** The last part is empty if the request was not to be counted. */
type CountedReply = [entry: EntryReply, isLockedOut: number, until: string, started: number, spent: SpendReply | []];

function entryOf(code: RoomCode, [outcome, ...rest]: EntryReply, known: ReadText | undefined): Entry {
  const [first, second, isKey] = rest;
  switch (outcome) {
    case 'in':
      return { outcome: 'admitted', code, found: first, isEncrypted: second === 1, known };
    case 'locked':
      return {
        outcome: 'pin-locked',
        until: Number(first),
        ...(second === 1 && { isForLife: true }),
        ...keyFlag(isKey),
      };
    case 'wrong':
      return {
        ...{ outcome: 'pin-incorrect', triesLeft: Number(first), lockedUntil: Number(second) || undefined },
        ...keyFlag(isKey),
      };
    case 'key-required':
      return { outcome: 'key-required', salt: String(first) };
    default:
      return { outcome: outcome as 'unknown' | 'expired' | 'pin-required' };
  }
}

interface Admitted {
  outcome: 'admitted';
  code: RoomCode;
  /** The fields of the room, or its text as requested: null if it is the known one. */
  found: unknown;
  isEncrypted: boolean;
  known: ReadText | undefined;
}

type Entry = Admitted | Refusal;

/** Whether an attempt changes counters or devices. Otherwise the lockout is checked afterwards, in one step less. */
const hasSideEffects = ({ pinMac, keyHash, deviceId }: AccessAttempt): boolean =>
  pinMac !== undefined || keyHash !== undefined || deviceId !== undefined;

const keyFlag = (isKey: unknown) => (isKey === 1 ? ({ isKey: true } as const) : {});

/**
 * Checks access to a room. Counting and checking are one step, so no concurrent attempt is missed. Both hashes of the
 * PIN or key are hashed again with a salt of this call, so that the time of the comparison reveals nothing about them.
 *
 * A client with too many misses is admitted only with the right key, and otherwise changes nothing. Returns the fields
 * of the room, or the tag and the text if it is requested and has another tag than the known one, and 1 if the room is
 * encrypted.
 *
 * The guard has the wrong PINs of the window and of the room's lifetime, the attempts of each client (client:…), the
 * networks of unknown clients with a wrong PIN (net:…), their attempts in spite of a lock, and wrong PINs of trusted
 * clients. That of an encrypted room has only the attempts of each client: nobody can guess a room key, so wrong ones
 * lock out only the client that sends them, and the right one is always admitted.
 */
const enterRoom = (rules: GuardRules) => `
local room, guard, trusted, seen, edits = unpack(KEYS)
local client, pinMac, salt, deviceId, now, network, keyHash, wantsText, knownTag = unpack(ARGV)
${fullText}
local triesBeforeLock, firstLockMs, longestLockMs = ${rules.triesBeforeLock}, ${rules.firstLockMs}, ${rules.longestLockMs}
local wrongPerRoom, wrongPerLife = ${rules.wrongPinsPerRoom}, ${rules.wrongPinsPerLife}
local wrongOfNewNetworks, keyCounters = ${rules.wrongPinsOfNewNetworks}, ${rules.keyCountersPerRoom}
local windowMs, rememberExpiredMs = ${rules.windowMs}, ${rules.rememberExpiredMs}
local deviceSeenMs, devicesPerRoom = ${rules.deviceSeenMs}, ${rules.devicesPerRoom}

local function enterRoom(isLockedOut)
local time = tonumber(now)
local fields = redis.call('HMGET', room, 'expiresAt', 'pinMac', 'pinAttempts', 'salt')
if not fields[1] then return {'unknown'} end
local expiresAt = tonumber(fields[1])
if expiresAt <= time then
  if expiresAt > time - rememberExpiredMs then return {'expired'} end
  return {'unknown'}
end

-- An encrypted room has a salt, and the verifier of its key instead of a PIN.
local isKey, proof = fields[4] and 1 or 0, fields[4] and keyHash or pinMac
local isRight = proof ~= '' and redis.sha1hex(fields[2] .. salt) == redis.sha1hex(proof .. salt)
if isLockedOut and not (fields[4] and isRight) then return {'unknown'} end

local function forgetCounters()
  local all = redis.call('HGETALL', guard)
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 7) == 'client:' and cjson.decode(all[i + 1]).forgetAt <= time then
      redis.call('HDEL', guard, all[i])
    end
  end
end

-- Further clients with wrong keys share one counter.
local function keyCounter(own)
  if redis.call('HEXISTS', guard, own) == 1 or redis.call('HLEN', guard) < keyCounters then return own end
  forgetCounters()
  return redis.call('HLEN', guard) < keyCounters and own or 'client:*'
end

if fields[2] ~= '' then
  if proof == '' then return fields[4] and {'key-required', fields[4]} or {'pin-required'} end
  local keepMs = expiresAt - time + windowMs
  local counter = 'client:' .. client
  if fields[4] and not isRight then counter = keyCounter(counter) end
  local counts = redis.call('HMGET', guard, 'wrong', 'windowEndsAt', counter, 'life', 'ofNewNetworks',
    'net:' .. network, 'trusted:' .. client)
  local tries = counts[3] and cjson.decode(counts[3]) or {wrong = 0, lockedUntil = 0}
  if tries.forgetAt and tries.forgetAt <= time then tries = {wrong = 0, lockedUntil = 0} end
  if tries.lockedUntil > time and not (fields[4] and isRight) then
    return {'locked', string.format('%.0f', tries.lockedUntil), 0, isKey}
  end

  local wrong, windowEndsAt = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
  local life, ofNewNetworks = math.max(tonumber(counts[4] or 0), tonumber(fields[3] or 0)), tonumber(counts[5] or 0)
  local isKnown, isTrusted, isShut
  if not fields[4] then
    isKnown = redis.call('ZSCORE', trusted, client)
    isTrusted = isKnown and tonumber(counts[7] or 0) < wrongPerLife
    local isForLife = life - ofNewNetworks >= wrongPerLife - wrongOfNewNetworks
    isShut = isForLife or (windowEndsAt > time and wrong >= wrongPerRoom)
    local hasSpareTry = life < wrongPerLife and ofNewNetworks < wrongOfNewNetworks and not counts[6]
    if isShut and not isTrusted and not hasSpareTry then
      return {'locked', string.format('%.0f', isForLife and expiresAt or windowEndsAt), isForLife and 1 or 0, isKey}
    end
  end

  if not isRight then
    tries.wrong = tries.wrong + 1
    local locks = tries.wrong - triesBeforeLock
    if locks >= 0 then
      tries.lockedUntil = time + math.min(firstLockMs * 2 ^ math.min(locks, 40), longestLockMs)
    end
    tries.forgetAt = math.max(time, tries.lockedUntil) + windowMs
    if redis.call('HLEN', guard) > 400 then forgetCounters() end
    redis.call('HSET', guard, counter, cjson.encode(tries))
    if not fields[4] then
      if windowEndsAt <= time then wrong, windowEndsAt = 0, time + windowMs end
      redis.call('HSET', guard, 'wrong', wrong + 1, 'windowEndsAt', string.format('%.0f', windowEndsAt),
        'life', life + 1)
      if isTrusted then
        redis.call('HINCRBY', guard, 'trusted:' .. client, 1)
      else
        redis.call('HSET', guard, 'net:' .. network, 1)
        if isShut then redis.call('HINCRBY', guard, 'ofNewNetworks', 1) end
      end
    end
    redis.call('PEXPIRE', guard, string.format('%.0f', keepMs))
    local left = math.max(0, triesBeforeLock - tries.wrong)
    return {'wrong', left, tries.lockedUntil > time and string.format('%.0f', tries.lockedUntil) or '0', isKey}
  end

  if counts[3] then redis.call('HDEL', guard, counter) end
  if not fields[4] and not isKnown then
    redis.call('ZADD', trusted, now, client)
    redis.call('ZREMRANGEBYRANK', trusted, 0, -1001)
    redis.call('PEXPIRE', trusted, string.format('%.0f', keepMs))
  end
end

if deviceId ~= '' then
  redis.call('ZADD', seen, now, deviceId)
  redis.call('ZREMRANGEBYRANK', seen, 0, -(devicesPerRoom + 1))
  redis.call('PEXPIRE', seen, 2 * deviceSeenMs)
end
if wantsText == '1' then
  local tag = textTag(room)
  return {'in', tag ~= knownTag and {tag, fullText(room, edits, 0)}, isKey}
end
return {'in', redis.call('HMGET', room, ${roomFields}), isKey}
end
`;

/**
 * `counted` counts the request and misses too: no concurrent attempt reveals more than the limits allow. A room key
 * cannot be guessed, so the right one is admitted even from a client with too many misses. The keys and arguments for
 * the request are absent if it is not to be counted. Returns the entry, whether the client is locked out instead, until
 * when, whether its own counter was started, and the result of counting the request.
 */
function enterScripts(rules: GuardRules) {
  const enter = enterRoom(rules);
  return {
    plain: scriptWhenFull(`${enter}
local isLockedOut = ARGV[10] == '1'
return enterRoom(isLockedOut)
`),
    counted: scriptWhenFull(`${settleLookup}${spendRequest}${enter}
local ownMisses, sharedMisses, ownRequests, sharedRequests = unpack(KEYS, 6)
local crossSiteMisses, mayStartMisses, limit, spendMs, mayStartRequests = unpack(ARGV, 10)
local time, spent = tonumber(now), {}
if ownRequests then
  limit, spendMs = tonumber(limit), tonumber(spendMs)
  spent = spendRequest(ownRequests, true, time, limit, spendMs, mayStartRequests == '1')
    or spendRequest(sharedRequests, true, time, limit, spendMs, true)
  if spent[1] == 0 then return {{}, 0, '0', 0, spent} end
end

local function settle(isMiss)
  if ${rules.missesPerClient} == 0 then return {0, '0', 0, 0} end
  local share = tonumber(crossSiteMisses)
  return settleLookup(ownMisses, isMiss, time, ${rules.missesPerClient}, windowMs, share, mayStartMisses == '1')
    or settleLookup(sharedMisses, isMiss, time, ${rules.missesPerClient}, windowMs, share, true)
end
local before = settle(false)
if before[1] == 1 then
  local entry = keyHash ~= '' and enterRoom(true) or {'unknown'}
  return {entry, entry[1] == 'in' and 0 or 1, before[2], 0, spent}
end
local entry = enterRoom(false)
if entry[1] ~= 'unknown' and entry[1] ~= 'wrong' then return {entry, 0, '0', 0, spent} end
local after = settle(true)
return {entry, 0, after[2], after[4], spent}
`),
  };
}

const notePinAttemptScript = onKeys('room', 'now').scriptWhenFull<number | null>(`${isLive}
if not isLive(room, now) then return false end
redis.call('HINCRBY', room, 'pinAttempts', 1)
return redis.call('HINCRBY', room, 'seq', 1)
`);

interface ReadText {
  tag: string;
  content: Content;
  /** In an encrypted room. */
  sealed?: SealedLog;
}

/** UTF-16 code units of each of the two generations, and of a text that is kept. */
const maxUnits = 4 * 1024 * 1024;
const longestText = 256 * 1024;
/** A text is dropped after one to two of these without use. */
const idleMs = 10_000;

/**
 * Texts that this node has read. They are never used without asking Redis: a read sends the tag of the known text, and
 * Redis returns the text only if it has another one. This saves most of the bytes and of the work of a repeated read.
 */
class ReadTexts extends Generations<ReadText> {
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    super({ maxRooms: Number.POSITIVE_INFINITY, maxUnits, unitsOf });
  }

  override put(code: RoomCode, text: ReadText): void {
    if (unitsOf(text) > longestText) return void this.drop(code);
    super.put(code, text);
    this.#timer ??= this.#startTimer();
  }

  #startTimer(): NodeJS.Timeout {
    const onIdle = () => {
      this.#timer = this.age() ? this.#startTimer() : undefined;
    };
    return setTimeout(onIdle, idleMs).unref();
  }
}

/** With some for the entry itself, so that many empty texts are limited too. */
const unitsOf = ({ content, sealed }: ReadText): number =>
  content.content.length +
  64 +
  (sealed?.entries.reduce((sum, { sealed: text = '' }) => sum + text.length + 64, 0) ?? 0);
