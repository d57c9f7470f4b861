/** Rooms on SQLite: reads here, writes through the writer, access counters in memory. */
import type { DatabaseSync } from 'node:sqlite';
import type { GuardRules, RoomStore, Store } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { guesserOf } from '../client-counters.ts';
import { createAdmission } from './admission.ts';
import { createDeviceList } from './device-list.ts';
import { createFileStore, filesOf } from './file-list.ts';
import type { GuessGuard } from './guess-guard.ts';
import { liveRooms } from './operations.ts';
import { createRoomReader } from './room-reader.ts';
import { roomOf } from './rows.ts';
import type { ReadSnapshot } from './snapshot.ts';
import type { SqliteStorage } from './storage.ts';
import { createTextReader } from './text-reader.ts';
import { createTextStore } from './text-store.ts';
import { createTrashStore } from './trash.ts';
import { createUploadStore } from './upload-list.ts';
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

/** The ports of a room share its reader and its cache. */
export function createRoomStores(
  parts: RoomStoreParts,
): Pick<Store, 'rooms' | 'texts' | 'files' | 'uploads' | 'trash'> {
  const { writer, rules, guard, storage, dropCounters } = parts;
  const devices = createDeviceList(rules);
  const rooms = createRoomReader(parts);
  const { sql, cache, readLive, missingReason, orReason, changing } = rooms;
  const texts = createTextReader(sql);

  const roomStore: RoomStore = {
    ...createAdmission({ rooms, rules, guard, devices }),

    async createRoom(draft, record) {
      const { pinMac, salt, expiresAt, creator, createdAt } = draft;
      const hasPin = pinMac !== undefined && salt === undefined;
      const made = await writer.run('createRoom', draft, record);
      if (typeof made === 'string' && hasPin) guard.trust({ code: made, expiresAt }, creator, createdAt);
      return made;
    },

    async deleteRoom(code, now) {
      const deleted = await changing(code, writer.run('deleteRoom', code, now));
      if (deleted !== 'gone') guard.forgetRoom(code);
      return orReason(code, now, deleted);
    },

    readState: (code, now, known) =>
      readLive(code, now, (id, record) => ({
        room: roomOf(record),
        seq: record.seq,
        pinAttempts: record.pin_attempts,
        pinMac: (record.pin_mac as Uint8Array | null) ?? undefined,
        text: texts.readTextSince(id, record, known),
        files: filesOf(sql, code, now),
      })),

    notePinAttempt: (code, now) => changing(code, writer.run('notePinAttempt', code, now)),

    async updateRoom(code, update, now) {
      const updated = await changing(code, writer.run('updateRoom', code, update, now));
      if (updated === 'gone' || updated === 'pin-changed') return orReason(code, now, updated);
      if (update.pinMac !== undefined) guard.forgetRoom(code);
      if (update.pinMac) guard.trust(updated.room, guesserOf(update), now);
      guard.moveExpiry(updated.room, now);
      return updated;
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

    async countRooms(now) {
      return liveRooms(sql, now);
    },
  };
  return {
    rooms: roomStore,
    texts: createTextStore({ texts, writer, cache, readLive, missingReason }),
    files: createFileStore(rooms, writer, storage),
    uploads: createUploadStore(rooms, writer, storage),
    trash: createTrashStore(sql, writer),
  };
}
