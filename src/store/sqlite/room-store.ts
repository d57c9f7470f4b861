/** Rooms on SQLite: reads here, writes through the writer, access counters in memory. */
import { timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type {
  AccessAttempt,
  Content,
  GuardRules,
  MaybePromise,
  MissingReason,
  Refusal,
  RoomStore,
  StoredFile,
} from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { createDeviceList } from './device-list.ts';
import type { GuessGuard } from './guess-guard.ts';
import { liveRooms } from './operations.ts';
import { type CachedRoom, type RoomAccess, RoomCache } from './room-cache.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import {
  cachedRoomOf,
  fileColumns,
  fileOf,
  ownerColumns,
  type RecordRow,
  recordColumns,
  roomColumns,
  roomOf,
} from './rows.ts';
import type { ReadSnapshot } from './snapshot.ts';
import { prepareOnce } from './statements.ts';
import type { SqliteStorage } from './storage.ts';
import { contentOf, type RoomToRead, roomToReadOf, type TextRow, textQuery } from './text-query.ts';
import { createTextReader } from './text-reader.ts';
import { createTextStore } from './text-store.ts';
import type { Writer } from './writer.ts';

export interface RoomStoreParts {
  db: DatabaseSync;
  snapshot: ReadSnapshot;
  writer: Writer;
  rules: GuardRules;
  guard: GuessGuard;
  storage: SqliteStorage;
  /** Drops expired counters from memory. */
  dropCounters: (now: number) => void;
}

export function createRoomStore(parts: RoomStoreParts): RoomStore {
  const { db, snapshot, writer, rules, guard, storage, dropCounters } = parts;
  const sql = prepareOnce(db);
  const devices = createDeviceList(rules);
  const texts = createTextReader(sql);
  const cache = new RoomCache();

  const roomById = sql(`SELECT ${roomColumns} FROM rooms WHERE id = ?`);
  const liveById = sql(`SELECT ${recordColumns}, ${ownerColumns} FROM rooms WHERE id = ? AND expires_at > ?`);
  const textById = sql(textQuery);
  textById.setReturnArrays(true);
  // An expired room that could not be ended yet is still in the table.
  const expiredById = sql(`
    SELECT 1 FROM expired_rooms WHERE id = ?1 AND expired_at > ?2
    UNION ALL SELECT 1 FROM rooms WHERE id = ?1 AND expires_at > ?2
  `);

  function find(code: RoomCode): CachedRoom | undefined {
    const cached = cache.get(code);
    if (cached) return cached;
    snapshot.beginSharedRead();
    const row = roomById.get(roomIdOf(code));
    return row && cache.put(code, cachedRoomOf(row));
  }

  /** The room with its text, or with the row that contains it. */
  function findToRead(code: RoomCode): CachedWithText | RoomToRead | undefined {
    const cached = cache.get(code);
    if (cached && hasText(cached)) return cached;
    snapshot.beginSharedRead();
    const row = textById.get(roomIdOf(code)) as unknown as TextRow | undefined;
    return row && roomToReadOf(code, row);
  }

  /**
   * Caching a room queries it a second time. A write in between updates or drops the cached room before it is
   * acknowledged.
   */
  function readContent({ room: { code }, row }: RoomToRead): Content {
    const content = contentOf(row);
    if (cache.isReadAgain(roomIdOf(code)) && find(code)) cache.putContent(code, content);
    return content;
  }

  function filesOf(code: RoomCode, now: number): StoredFile[] {
    const rows = sql(`
      SELECT ${fileColumns} FROM files JOIN rooms ON rooms.id = room
      WHERE room = ? AND expires_at > ? ORDER BY uploaded_at, files.rowid
    `).all(roomIdOf(code), now);
    return rows.map(fileOf);
  }

  /** Why a room is missing. */
  const missingReason = (code: RoomCode, now: number): MissingReason =>
    expiredById.get(roomIdOf(code), now - rules.rememberExpiredMs) ? 'expired' : 'gone';

  const orReason = <T>(code: RoomCode, now: number, outcome: T | 'gone'): T | MissingReason =>
    outcome === 'gone' ? missingReason(code, now) : outcome;

  /** Reads from the database in one transaction, so that seq, text and files are consistent. */
  async function readLive<T>(
    code: RoomCode,
    now: number,
    read: (id: RoomId, record: RecordRow) => T,
  ): Promise<T | MissingReason> {
    const id = roomIdOf(code);
    const found = snapshot.within(() => {
      const record = liveById.get(id, now) as RecordRow | undefined;
      return record && { value: read(id, record) };
    });
    if (found) return found.value;
    await endForGood(code, now);
    return missingReason(code, now);
  }

  /** Waits for a change and drops the cached room, whatever the outcome. */
  async function changing<T>(code: RoomCode, change: Promise<T>): Promise<T> {
    try {
      return await change;
    } finally {
      cache.drop(code);
    }
  }

  /** Checks access to a room. Returns the room or the refusal. */
  function checkAccess<R extends RoomAccess>(
    attempt: AccessAttempt,
    lookUp: (code: RoomCode) => R | undefined,
  ): R | MaybePromise<Refusal> {
    const { code, pinMac, deviceId, now } = attempt;
    const until = guard.missedOutUntil(attempt);
    if (until !== undefined) return { outcome: 'too-many-misses', until };
    const found = code && lookUp(code);
    if (!found) return refuseMissing(attempt, undefined);
    if (found.room.expiresAt <= now) return refuseExpired(found.room, attempt);

    const { room, pinMac: roomMac } = found;
    if (roomMac) {
      if (!pinMac) return { outcome: 'pin-required' };
      const trial = guard.tryPin(room, attempt, () => timingSafeEqual(roomMac, pinMac));
      if (trial.outcome === 'locked') return { ...trial, outcome: 'pin-locked' };
      if (trial.outcome === 'wrong') return { ...trial, outcome: 'pin-incorrect' };
    }
    if (deviceId) devices.seen(room.code, deviceId, now);
    return found;
  }

  /** Counts before it waits, so that concurrent attempts are counted too. */
  async function refuseExpired({ code, expiresAt }: RoomAccess['room'], attempt: AccessAttempt): Promise<Refusal> {
    const admission = refuseMissing(attempt, expiresAt);
    await endForGood(code, attempt.now);
    return admission;
  }

  /** Ends an expired room, so that it stays ended if the clock is set back. If this fails, the next sweep does it. */
  async function endForGood(code: RoomCode, now: number): Promise<void> {
    await changing(code, writer.run('expireRoom', code, now)).catch(() => undefined);
  }

  function refuseMissing(attempt: AccessAttempt, expiredAt: number | undefined): Refusal {
    const { code, now } = attempt;
    const since = now - rules.rememberExpiredMs;
    const expired = expiredAt === undefined ? code && missingReason(code, now) === 'expired' : expiredAt > since;
    if (expired) return { outcome: 'expired' };
    guard.miss(attempt);
    return { outcome: 'unknown' };
  }

  return {
    admit(attempt) {
      const found = checkAccess(attempt, find);
      return 'room' in found ? { outcome: 'admitted', room: found.room } : found;
    },

    read(attempt) {
      const found = checkAccess(attempt, findToRead);
      if (!('room' in found)) return found;
      return { outcome: 'admitted', content: 'row' in found ? readContent(found) : found.content };
    },

    async createRoom(draft) {
      const code = await writer.run('createRoom', draft);
      if (code && draft.pinMac) guard.trust({ code, expiresAt: draft.expiresAt }, draft.creator, draft.createdAt);
      return code;
    },

    async deleteRoom(code, now) {
      const deleted = await changing(code, writer.run('deleteRoom', code, now));
      if (deleted !== 'gone') guard.forgetRoom(code);
      return orReason(code, now, deleted);
    },

    readState: (code, now, sinceVersion) =>
      readLive(code, now, (id, record) => ({
        room: roomOf(record),
        seq: record.seq,
        pinAttempts: record.pin_attempts,
        pinMac: (record.pin_mac as Uint8Array | null) ?? undefined,
        text: texts.readTextSince(id, record, sinceVersion),
        files: filesOf(code, now),
      })),

    notePinAttempt: (code, now) => changing(code, writer.run('notePinAttempt', code, now)),

    async resetPinGuard(code, client, now) {
      const reset = await changing(code, writer.run('clearPinAttempts', code, now));
      if (reset === 'gone') return missingReason(code, now);
      guard.forgetRoom(code);
      guard.trust({ code, expiresAt: reset.expiresAt }, client, now);
      return { seq: reset.seq };
    },

    async attachDevice(code, channel, now) {
      return devices.attach(code, channel, now);
    },

    async renewDevices(code, channels, now) {
      devices.renew(code, channels, now);
    },

    async detachDevice(code, channelId) {
      devices.detach(code, channelId);
    },

    async listDevices(code, now) {
      return devices.list(code, now);
    },

    ...createTextStore({ texts, writer, cache, readLive, missingReason }),

    async addFile(code, file, quota) {
      const added = await changing(code, writer.run('addFile', code, file, quota));
      storage.onFileAdded(file.blob);
      return orReason(code, file.uploadedAt, added);
    },

    async listFiles(code, now) {
      const found = find(code);
      if (found && found.room.expiresAt > now) return filesOf(code, now);
      await endForGood(code, now);
      return missingReason(code, now);
    },

    async findFile(fileId, now) {
      const row = sql(
        `SELECT ${fileColumns}, code, expires_at FROM files JOIN rooms ON rooms.id = room WHERE files.id = ?`,
      ).get(fileId);
      if (!row || (row.expires_at as number) > now) return row && fileOf(row);
      await endForGood(row.code as RoomCode, now);
      return undefined;
    },

    async removeFile(code, fileId, now) {
      return orReason(code, now, await changing(code, writer.run('removeFile', code, fileId, now)));
    },

    async expireRooms(now, limit) {
      dropCounters(now);
      devices.dropAllStale(now);
      const expired: RoomCode[] = [];
      for (let isDone = false; !isDone; ) {
        const ended = await writer.run('expireRooms', now, limit - expired.length, rules.rememberExpiredMs);
        for (const code of ended.codes) cache.drop(code);
        expired.push(...ended.codes);
        isDone = ended.isDone;
      }
      return expired;
    },

    async listTrash(limit) {
      return sql('SELECT blob FROM trash LIMIT ?')
        .all(limit)
        .map(({ blob }) => String(blob));
    },

    // There is only one node, which empties its trash once at a time.
    claimTrash: async (blobs) => blobs,
    releaseTrash: async () => undefined,
    clearTrash: (blobs) => writer.run('clearTrash', blobs),

    async knownBlobs(blobs) {
      const known = sql('SELECT 1 FROM files WHERE blob = ? UNION ALL SELECT 1 FROM trash WHERE blob = ?');
      return new Set(blobs.filter((blob) => known.get(blob, blob)));
    },

    async countRooms(now) {
      return liveRooms(sql, now);
    },
  };
}

type CachedWithText = CachedRoom & { content: Content };

const hasText = (cached: CachedRoom): cached is CachedWithText => cached.content !== undefined;
