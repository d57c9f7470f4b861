/** Rooms on SQLite: reads here, writes through the writer, access counters in memory. */
import type { Repeated, RequestRecord } from '../../core/ports/basics.ts';
import type { Channel, Device, GuardRules, RoomDraft, RoomStore, RoomUpdate } from '../../core/ports/rooms.ts';
import type { RoomRecord } from '../../core/ports/store.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { guesserOf } from '../client-counters.ts';
import { createAdmission, type GuessGuard } from './access.ts';
import { createRoomReader, expireRoom, gone, liveRooms, type RoomId, roomColumns, roomIdOf, roomOf } from './cache.ts';
import type { SqliteStorage } from './clients.ts';
import { insert, type Sql } from './database.ts';
import { createFileStore, createTrashStore, createUploadStore, filesOf } from './files.ts';
import { findRequest, forgetRequests, rememberRequest } from './idempotency.ts';
import { createLinkStore, linksOf } from './links.ts';
import { createTextReader, createTextStore } from './text.ts';
import type { OpenedDatabase } from './writer.ts';

interface RoomStoreDeps extends OpenedDatabase {
  rules: GuardRules;
  guard: GuessGuard;
  storage: SqliteStorage;
  /** Drops expired counters from memory. */
  dropCounters: (now: number) => void;
}

/** The ports of a room share its reader and its cache. */
export function createRoomStores(deps: RoomStoreDeps) {
  const { writer, rules, guard, storage, dropCounters } = deps;
  const { seen, dropAllStale, ...deviceStore } = createDeviceList(rules);
  const rooms = createRoomReader(deps);
  const access = { rooms, guard, devices: { seen } };
  const { sql, cache, readLive, orReason, changing } = rooms;
  const texts = createTextReader(sql);

  const roomStore: RoomStore = {
    ...createAdmission(access, rules),
    ...deviceStore,

    async createRoom(draft, record) {
      const { pinMac, salt, expiresAt, creator, createdAt } = draft;
      const hasPin = pinMac !== undefined && salt === undefined;
      const made = await writer.run(createRoom, draft, record);
      if (typeof made === 'string' && hasPin) guard.trust({ code: made, expiresAt }, creator, createdAt);
      return made;
    },

    async deleteRoom(code, now) {
      const deleted = await changing(code, writer.run(deleteRoom, code, now));
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
        links: linksOf(sql, id).map((link) => link.id),
      })),

    notePinAttempt: (code, now) => changing(code, writer.run(notePinAttempt, code, now)),

    async updateRoom(code, update, now) {
      const updated = await changing(code, writer.run(updateRoom, code, update, now));
      if (updated === 'gone' || updated === 'pin-changed') return orReason(code, now, updated);
      if (update.pinMac !== undefined) guard.forgetRoom(code);
      if (update.pinMac) guard.trust(updated.room, guesserOf(update), now);
      guard.moveExpiry(updated.room, now);
      return updated;
    },

    async expireRooms(now, limit) {
      dropCounters(now);
      dropAllStale(now);
      const expired: RoomCode[] = [];
      for (let isDone = false; !isDone; ) {
        const ended = await writer.run(expireRooms, now, limit - expired.length, rules.rememberExpiredMs);
        for (const code of ended.codes) cache.drop(code);
        expired.push(...ended.codes);
        isDone = ended.isDone;
      }
      return expired;
    },

    countRooms: async (now) => liveRooms(sql, now),
  };
  return {
    rooms: roomStore,
    links: createLinkStore(access, writer),
    texts: createTextStore(rooms, texts, writer),
    files: createFileStore(rooms, writer, storage),
    uploads: createUploadStore(rooms, writer, storage),
    trash: createTrashStore(sql, writer),
  };
}

export function updateRoom(sql: Sql, code: RoomCode, update: RoomUpdate, now: number) {
  const id = roomIdOf(code);
  const mayExtend = 'extend_ms IS NOT NULL AND expires_at < ?2';
  const found = sql(`
    SELECT pin_mac IS ?1 AS isSame, ${mayExtend} AS mayExtend FROM rooms WHERE id = ?3 AND expires_at > ?4
  `).get(update.admittedBy ?? null, update.expiresAt ?? 0, id, now);
  if (!found) return gone(sql, code, now);
  if ((update.isExtension ? found.mayExtend : found.isSame) !== 1) return 'pin-changed';
  if (update.expiresAt !== undefined) moveExpiry(sql, id, code, update.expiresAt, update.uploadLifetimeMs);
  if (update.pinMac !== undefined) setPin(sql, id, code, update.pinMac);
  if (update.extendMs !== undefined) sql('UPDATE rooms SET extend_ms = ? WHERE id = ?').get(update.extendMs, id);
  if (update.name !== undefined) sql('UPDATE rooms SET name = ? WHERE id = ?').get(update.name, id);
  const row = sql(`UPDATE rooms SET seq = seq + 1 WHERE id = ? RETURNING seq, ${roomColumns}`).get(id);
  return { seq: Number(row?.seq), room: roomOf(row as Record<string, unknown>) };
}

/** The counters of wrong PINs end with the room. They are also in memory, but a crash would lose that. */
function moveExpiry(sql: Sql, id: RoomId, code: RoomCode, expiresAt: number, uploadLifetimeMs: number): void {
  sql('UPDATE rooms SET expires_at = ? WHERE id = ?').get(expiresAt, id);
  const moveEnds = sql('UPDATE files SET ends_at = min(?, uploaded_at + ?) WHERE room = ? AND ends_at IS NOT NULL');
  moveEnds.get(expiresAt, uploadLifetimeMs, id);
  sql(`
    UPDATE counters SET expires_at = ?1, state = json_set(state, '$.roomExpiresAt', ?1) WHERE kind = 'pin' AND key = ?2
  `).get(expiresAt, code);
}

function setPin(sql: Sql, id: RoomId, code: RoomCode, pinMac: Uint8Array | null): void {
  sql('UPDATE rooms SET pin_mac = ?, pin_attempts = 0 WHERE id = ?').get(pinMac, id);
  sql("DELETE FROM counters WHERE kind = 'pin' AND key = ?").get(code);
}

export function createRoom(sql: Sql, draft: RoomDraft, record?: RequestRecord): RoomCode | undefined | Repeated {
  const repeated = record && findRequest(sql, record, draft.createdAt);
  if (repeated) return { repeated };
  const rooms = liveRooms(sql, draft.createdAt) + 1;
  const code = draft.draw.slice(0, draft.codeLengths.find(({ upTo }) => rooms <= upTo)?.length) as RoomCode;
  const id = roomIdOf(code);
  const taken = sql('SELECT 1 FROM rooms WHERE id = ? UNION ALL SELECT 1 FROM expired_rooms WHERE id = ?').get(id, id);
  if (taken) return undefined;
  const text = { written_at: draft.createdAt, text_charge: draft.countsText ? 0 : null };
  insert(sql, 'rooms', { ...rowOfNew(code, draft), ...text });
  if (record) rememberRequest(sql, { ...record, codeLength: code.length });
  return code;
}

/** The columns that drafts and restored rooms have in common. */
export const rowOfNew = (code: RoomCode, room: RoomDraft | RoomRecord) => ({
  id: roomIdOf(code),
  code,
  created_at: room.createdAt,
  expires_at: room.expiresAt,
  pin_mac: room.pinMac,
  keeps_history: room.keepsHistory ? 1 : 0,
  client: room.owner?.client,
  network: room.owner?.network,
  name: room.name,
  salt: room.salt,
  created_by: room.createdBy,
  extend_ms: room.extendMs,
});

export function deleteRoom(sql: Sql, code: RoomCode, now: number): { seq: number } | 'gone' {
  const ended = sql('DELETE FROM rooms WHERE id = ? AND expires_at > ? RETURNING seq').get(roomIdOf(code), now);
  return ended ? { seq: Number(ended.seq) + 1 } : gone(sql, code, now);
}

export function notePinAttempt(sql: Sql, code: RoomCode, now: number): { seq: number } | undefined {
  const noted = sql(`
    UPDATE rooms SET pin_attempts = pin_attempts + 1, seq = seq + 1 WHERE id = ? AND expires_at > ? RETURNING seq
  `).get(roomIdOf(code), now);
  return noted && { seq: Number(noted.seq) };
}

/** Overwriting long texts takes time, and other writes have to wait. */
const longestSweepMs = 20;

export function expireRooms(sql: Sql, now: number, limit: number, rememberMs: number) {
  const due = sql('SELECT code FROM rooms WHERE expires_at <= ? ORDER BY expires_at LIMIT ?').all(now, limit);
  const codes = due.map(({ code }) => code as RoomCode);
  const ended = expireSome(sql, codes, now);
  sql('DELETE FROM expired_rooms WHERE expired_at <= ?').get(now - rememberMs);
  sql('DELETE FROM counters WHERE expires_at <= ?').get(now);
  forgetRequests(sql, now);
  return { codes: codes.slice(0, ended), isDone: ended === codes.length };
}

/** Ends at least one of the rooms, and returns how many. */
function expireSome(sql: Sql, codes: readonly RoomCode[], now: number): number {
  const deadline = performance.now() + longestSweepMs;
  for (const [index, code] of codes.entries()) {
    expireRoom(sql, code, now);
    if (performance.now() > deadline) return index + 1;
  }
  return codes.length;
}

interface Present {
  /** Devices that requests named, by id, least recent first. */
  seen: Map<string, { device: Device; seenAt: number }>;
  /** Channels by id, with the time of the last renewal. */
  channels: Map<string, { device: Device; renewedAt: number }>;
  /** The colours of devices, also of some that have left. */
  colors: Map<string, number>;
}

/** Devices in a room, with a channel or a recent request. In memory only, because they reconnect after a restart. */
function createDeviceList({ deviceSeenMs, channelSeenMs, devicesPerRoom, deviceColors }: GuardRules) {
  const rooms = new Map<RoomCode, Present>();

  function presentIn(code: RoomCode): Present {
    const present = rooms.get(code) ?? { seen: new Map(), channels: new Map(), colors: new Map() };
    rooms.set(code, present);
    return present;
  }

  function dropStale(code: RoomCode, { seen, channels }: Present, now: number): void {
    // The second condition drops entries from the future, which remain after a clock was set back.
    const isStale = (notedAt: number, afterMs: number) => notedAt <= now - afterMs || notedAt > now + afterMs;
    for (const [id, { seenAt }] of seen) if (isStale(seenAt, deviceSeenMs)) seen.delete(id);
    for (const [id, { renewedAt }] of channels) if (isStale(renewedAt, channelSeenMs)) channels.delete(id);
    if (seen.size + channels.size === 0) rooms.delete(code);
  }

  /** A device with both a channel and requests is listed once, with the name from its channel. */
  function distinct({ seen, channels }: Present): Device[] {
    const devices = new Map<string, Device>();
    for (const { device } of channels.values()) if (!devices.get(device.id)?.name) devices.set(device.id, device);
    for (const { device } of seen.values()) if (!devices.has(device.id)) devices.set(device.id, device);
    return [...devices.values()].slice(0, devicesPerRoom);
  }

  function withColor({ channels, colors }: Present, device: Device): Device {
    if (device.color === undefined) return device;
    const others = [...channels.values()].map((channel) => channel.device).filter(({ id }) => id !== device.id);
    const attached = new Set(others.map(({ color }) => color));
    const color = colors.get(device.id) ?? chooseColor(device.color, attached, new Set(colors.values()));
    if (colors.size >= devicesPerRoom) colors.clear();
    colors.set(device.id, color);
    return { ...device, color };
  }

  /** The next colour after the preferred one that no device has or had, or at least that none has. */
  function chooseColor(preferred: number, attached: ReadonlySet<unknown>, remembered: ReadonlySet<number>): number {
    const inOrder = Array.from({ length: deviceColors }, (_, n) => (preferred + n) % deviceColors);
    const unattached = inOrder.filter((color) => !attached.has(color));
    return unattached.find((color) => !remembered.has(color)) ?? unattached[0] ?? preferred;
  }

  return {
    seen(code: RoomCode, device: Device, now: number): void {
      const { seen } = presentIn(code);
      seen.delete(device.id);
      if (seen.size >= devicesPerRoom) seen.delete(seen.keys().next().value as string);
      seen.set(device.id, { device, seenAt: now });
    },

    async attachDevice(code: RoomCode, { id, device }: Channel, now: number): Promise<Device | 'full'> {
      const known = rooms.get(code);
      if (known) dropStale(code, known, now);
      const attached = new Set([...(known?.channels.values() ?? [])].map((channel) => channel.device.id));
      if (attached.size >= devicesPerRoom && !attached.has(device.id)) return 'full';
      const present = presentIn(code);
      const colored = withColor(present, device);
      present.channels.set(id, { device: colored, renewedAt: now });
      return colored;
    },

    async renewDevices(code: RoomCode, channels: readonly Channel[], now: number): Promise<void> {
      const present = presentIn(code);
      for (const { id, device } of channels) present.channels.set(id, { device, renewedAt: now });
    },

    async detachDevice(code: RoomCode, channelId: string): Promise<void> {
      const present = rooms.get(code);
      present?.channels.delete(channelId);
      if (present && present.seen.size + present.channels.size === 0) rooms.delete(code);
    },

    async listDevices(code: RoomCode, now: number): Promise<Device[]> {
      const present = rooms.get(code);
      if (!present) return [];
      dropStale(code, present, now);
      return distinct(present);
    },

    dropAllStale(now: number): void {
      for (const [code, present] of rooms) dropStale(code, present, now);
    },
  };
}
