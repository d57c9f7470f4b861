/** Rooms in Redis. Each method is one script if all its keys have one hash tag. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  AccessAttempt,
  FinishedRequest,
  GuardRules,
  MissingReason,
  Refusal,
  Repeated,
  RequestRecord,
  Room,
  RoomDraft,
  RoomState,
  RoomStore,
  RoomUpdate,
  Store,
  TextState,
  TrashClaims,
} from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { guesserOf, networkOf } from '../counters/network.ts';
import { createClaimList } from './claim-list.ts';
import { clearUp } from './clear-up.ts';
import { createCounters } from './counters.ts';
import { createDeviceList } from './device-list.ts';
import { dropIndexes } from './file-index.ts';
import { createFileList, filesOf } from './file-list.ts';
import { createIdempotencyStore, createRunOnce, forgetClaim, repeatedIn } from './idempotency.ts';
import { type Keys, leaseMs, netMs } from './keys.ts';
import { createLockouts } from './lockouts.ts';
import { createRoomExpiry } from './room-expiry.ts';
import * as scripts from './scripts.ts';
import type { RedisStorage } from './storage.ts';
import { contentOf, createTextLog, entryOf, type FullTextReply, lastRefsOf } from './text-log.ts';
import { createTrash, createTrashClaims } from './trash.ts';
import { updateRoom } from './update-scripts.ts';
import { createUploadList } from './upload-list.ts';

export function createRoomStores(
  redis: Redis,
  keys: Keys,
  rules: GuardRules,
  storage: RedisStorage,
): Pick<Store, 'rooms' | 'texts' | 'files' | 'uploads' | 'trash'> & { trashClaims: TrashClaims } {
  const lockouts = createLockouts();
  const expiry = createRoomExpiry(redis, keys, storage);
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
  const crossSiteMisses = Math.ceil(rules.missesPerClient / 2);
  const runOnce = createRunOnce(redis, keys);
  const idempotency = createIdempotencyStore(redis, keys);
  const countMisses = createCounters(redis, scripts.settleLookup, keys.misses, rules);

  async function checkAccess(attempt: AccessAttempt, wanted: 'room' | 'text'): Promise<Access> {
    const { code, now } = attempt;
    const before =
      lockouts.until(guesserOf(attempt), now) ?? (hasSideEffects(attempt) ? await settle(attempt, 0) : undefined);
    if (before !== undefined && !(code && attempt.keyHash)) return { outcome: 'too-many-misses', until: before };
    const access: Access = code ? await enter(code, attempt, wanted, before) : { outcome: 'unknown' };
    // A room key cannot be guessed, so the right one is admitted even from a client with too many misses.
    if (access.outcome === 'admitted' && access.isEncrypted) return access;
    if (before !== undefined) return { outcome: 'too-many-misses', until: before };
    const missed = access.outcome === 'unknown' || access.outcome === 'pin-incorrect';
    const after = await settle(attempt, missed ? 1 : 0);
    return after === undefined ? access : { outcome: 'too-many-misses', until: after };
  }

  /** `lockedOutUntil`: set if the client has too many misses. */
  async function enter(
    code: RoomCode,
    attempt: AccessAttempt,
    wanted: 'room' | 'text',
    lockedOutUntil: number | undefined,
  ): Promise<Access> {
    const { pinMac, keyHash, deviceId, now } = attempt;
    const client = guesserOf(attempt);
    const { room, guard, trusted, seen, edits } = keys.ofRoom(code);
    const hasProof = pinMac !== undefined || keyHash !== undefined;
    const salt = hasProof ? randomBytes(8).toString('hex') : '';
    const network = hasProof ? networkOf(client) : '';
    const args = [client, hex(pinMac), salt, deviceId ?? '', now, ...guardNumbers, network, hex(keyHash)];
    args.push(lockedOutUntil === undefined ? 0 : 1);
    const touched = [room, guard, trusted, seen, ...(wanted === 'text' ? [edits] : [])];
    const [outcome, ...rest] = (await redis.run(scripts.enterRoom, touched, args)) as [string, ...unknown[]];
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

  /** Counts a miss. Returns until when the client is locked out, if it already had too many misses. */
  async function settle(attempt: AccessAttempt, misses: 0 | 1): Promise<number | undefined> {
    if (rules.missesPerClient === 0) return undefined;
    const { client, isCrossSite, now } = attempt;
    const args = [misses, now, rules.missesPerClient, rules.windowMs, isCrossSite ? crossSiteMisses : 0];
    const [isLockedOut, until] = (await countMisses(client, now, args)) as unknown as [number, string];
    if (Number(until) > 0) lockouts.note(guesserOf(attempt), Number(until));
    return isLockedOut === 1 ? Number(until) : undefined;
  }

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
    const reply = await runOnce(scripts.claimCodeOnce, [keys.rooms], args, request);
    if (reply === null) return undefined;
    const claimed = repeatedIn(reply);
    return claimed ? { claimed } : { code: reply as RoomCode, isListed: true };
  }

  async function makeRoom(code: RoomCode, draft: RoomDraft, record: RequestRecord | undefined): Promise<unknown> {
    const { createdAt, expiresAt, pinMac, creator, owner, countsText, keepsHistory } = draft;
    const { room, trusted, edits, history, historyTexts } = keys.ofRoom(code);
    const keepMs = expiresAt - createdAt + rules.rememberExpiredMs + netMs;
    const times = [createdAt, expiresAt, hex(pinMac), creator, keepMs, rules.rememberExpiredMs];
    const args = [...times, keepsHistory ? 1 : 0, owner?.client ?? '', owner?.network ?? '', countsText ? 0 : ''];
    args.push(draft.name ?? '', draft.salt ?? '');
    const request = { record, room: code, now: createdAt };
    return runOnce(scripts.createRoomOnce, [room, trusted, edits, history, historyTexts], args, request);
  }

  const dropKeys = (code: RoomCode) => {
    const { room, files, removed, uploads, removals, uploadEnds, blobs, ...rest } = keys.ofRoom(code);
    const { trash, trashOwners, storedBytes, endedTexts, ...others } = rest;
    const lists = [room, files, removed, uploads, removals, uploadEnds];
    return [...lists, blobs, trash, trashOwners, storedBytes, endedTexts, ...Object.values(others)];
  };

  /** Returns whether the room has ended. A room that was extended is listed for the sweep again. */
  async function end(code: RoomCode, member: string, now: number): Promise<boolean> {
    const reply = await redis.run(scripts.expireRoom, dropKeys(code), [now, rules.rememberExpiredMs, code]);
    const fileIds = Array.isArray(reply) ? (reply as string[]) : undefined;
    if (fileIds) await dropIndexes(redis, keys, fileIds);
    else await expiry.putBack(code, Number(reply), now);
    await redis.send(keys.ending, ['ZREM', keys.ending, member]);
    return fileIds !== undefined;
  }

  /** In one step for the room itself, including its guards. */
  async function update(code: RoomCode, change: RoomUpdate, now: number) {
    const { room, guard, trusted, edits, history, historyTexts, uploads, uploadEnds } = keys.ofRoom(code);
    const { expiresAt, pinMac, name, admittedBy, uploadLifetimeMs } = change;
    const left = (expiresAt ?? 0) - now;
    const reply = await redis.run(
      updateRoom,
      [room, guard, trusted, edits, history, historyTexts, uploads, uploadEnds],
      [
        ...[now, rules.rememberExpiredMs, hex(admittedBy)],
        ...[pinMac === undefined ? '' : 1, hex(pinMac ?? undefined), guesserOf(change)],
        ...[name === undefined ? '' : 1, name ?? ''],
        ...[expiresAt ?? '', left + rules.rememberExpiredMs + netMs, left + rules.windowMs, uploadLifetimeMs, code],
      ],
    );
    if (typeof reply === 'string') return reply as 'pin-changed' | MissingReason;
    const [seq, fields] = reply as [number, string[]];
    return { seq, room: roomOf(code, fields) };
  }

  const rooms: RoomStore = {
    ...createDeviceList(redis, keys, rules),

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

    async admit(attempt) {
      const access = await checkAccess(attempt, 'room');
      if (access.outcome !== 'admitted') return access;
      return { outcome: 'admitted', room: roomOf(access.code, access.found as string[]) };
    },

    async read(attempt) {
      const access = await checkAccess(attempt, 'text');
      if (access.outcome !== 'admitted') return access;
      return { outcome: 'admitted', content: contentOf(access.found as FullTextReply) };
    },

    async deleteRoom(code, now) {
      const reply = await redis.run(scripts.deleteRoom, dropKeys(code), [now, rules.rememberExpiredMs, code]);
      if (typeof reply === 'string') return reply as MissingReason;
      const [seq, hadText, fileIds] = reply as [number, number, string[]];
      await clearUp(redis, keys.rooms, ['ZREM', keys.rooms, code]);
      await dropIndexes(redis, keys, fileIds);
      // If this fails, the sweep does it.
      if (hadText === 1) await storage.dischargeEndedTexts(keys.ofRoom(code)).catch(() => undefined);
      return { seq };
    },

    async readState(code, now, known) {
      const { room, files, edits } = keys.ofRoom(code);
      const args = [now, rules.rememberExpiredMs, known?.version ?? '', known?.writtenAt ?? ''];
      const reply = await redis.run(scripts.readState, [room, files, edits], args);
      return typeof reply === 'string' ? (reply as MissingReason) : stateOf(code, reply as StateReply);
    },

    async notePinAttempt(code, now) {
      const seq = await redis.run(scripts.notePinAttempt, [keys.ofRoom(code).room], [now]);
      return seq === null ? undefined : { seq: Number(seq) };
    },

    async updateRoom(code, change, now) {
      const { expiresAt } = change;
      if (expiresAt === undefined) return update(code, change, now);
      await expiry.prepare(code, expiresAt, now);
      const updated = await update(code, change, now);
      await expiry.settle(code, now);
      return updated;
    },

    async expireRooms(now, limit) {
      const taken = await redis.run(scripts.takeExpired, [keys.rooms, keys.ending], [now, limit, now + leaseMs]);
      const members = taken as string[];
      const ended: RoomCode[] = [];
      for (let at = 0; at < members.length; at += roomsAtOnce) {
        const startedAt = performance.now();
        const batch = members.slice(at, at + roomsAtOnce);
        const codes = await Promise.all(
          batch.map(async (member) => {
            const [code] = member.split(':') as [RoomCode];
            return (await end(code, member, now)) ? code : undefined;
          }),
        );
        ended.push(...codes.filter((code) => code !== undefined));
        // Requests of clients wait in the same queue. Half of the time is theirs.
        await pause(performance.now() - startedAt);
      }
      return ended;
    },

    async countRooms(now) {
      return Number(await redis.send(keys.rooms, ['ZCOUNT', keys.rooms, `(${now}`, '+inf']));
    },
  };
  return {
    rooms,
    texts: createTextLog(redis, keys, rules),
    files: { ...createFileList(redis, keys, rules, storage), ...createClaimList(redis, keys, rules) },
    uploads: createUploadList(redis, keys, rules, storage),
    trash: createTrash(redis, keys, storage),
    trashClaims: createTrashClaims(redis, keys),
  };
}

/** Redis runs one script at a time: many would delay the requests of clients. */
const roomsAtOnce = 20;

type Claim = { code: RoomCode; isListed: boolean } | Repeated | { claimed: FinishedRequest } | undefined;

/** `found` contains the fields of the room or its text, as requested. */
type Access = { outcome: 'admitted'; code: RoomCode; found: unknown; isEncrypted: boolean } | Refusal;

/** Whether an attempt changes counters or devices. Otherwise the lockout is checked afterwards, in one step less. */
const hasSideEffects = ({ pinMac, keyHash, deviceId }: AccessAttempt): boolean =>
  pinMac !== undefined || keyHash !== undefined || deviceId !== undefined;

const keyFlag = (isKey: unknown) => (isKey === 1 ? ({ isKey: true } as const) : {});

const hex = (bytes: Uint8Array | undefined): string => (bytes ? Buffer.from(bytes).toString('hex') : '');

type RoomFields = readonly (string | null | undefined)[];

function roomOf(code: RoomCode, [createdAt, expiresAt, pinMac, fileCount, fileBytes, name, salt]: RoomFields): Room {
  return {
    code,
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    hasPin: pinMac !== '' && !salt,
    ...(salt && { salt }),
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
type StateReply = [fields: string[], files: string[], entries: string[] | null, text: FullTextReply];

function stateOf(code: RoomCode, [fields, files, entries, text]: StateReply): RoomState {
  const [seq, pinAttempts, version, writtenAt] = fields.slice(7).map(Number) as [number, number, number, number];
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
  };
}
