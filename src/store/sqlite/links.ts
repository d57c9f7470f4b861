/** The links of rooms. Changes return `gone` if there is no such room. */

import {
  isExpired,
  type LinkAdmission,
  type LinkRole,
  type LinkStore,
  type StoredLink,
} from '../../core/ports/links.ts';
import type { Device } from '../../core/ports/rooms.ts';
import type { LinkId, RoomCode } from '../../core/room-code.ts';
import type { GuessGuard } from './access.ts';
import { gone, liveRoom, type RoomId, type RoomReader, roomIdOf } from './cache.ts';
import type { Row, Sql } from './database.ts';
import { dropFiles } from './files.ts';
import type { Writer } from './writer.ts';

interface LinkStoreDeps {
  rooms: RoomReader;
  writer: Writer;
  guard: GuessGuard;
  devices: { seen(code: RoomCode, device: Device, now: number): void };
}

export function createLinkStore({ rooms, writer, guard, devices }: LinkStoreDeps): LinkStore {
  const { sql, find, readLive, orReason, changing, endForGood } = rooms;
  const linkById = sql(`
    SELECT ${linkColumns}, code, rooms.expires_at AS room_expires_at FROM links JOIN rooms ON rooms.id = room
    WHERE links.id = ?
  `);

  /** The reader of this connection sees every acknowledged change, so a revoked link is never found. */
  function findRow(id: LinkId): { code: RoomCode; link: StoredLink; roomExpiresAt: number } | undefined {
    rooms.beginRead();
    const row = linkById.get(id);
    return row && { code: row.code as RoomCode, link: linkOf(row), roomExpiresAt: row.room_expires_at as number };
  }

  return {
    admit(attempt): LinkAdmission | Promise<LinkAdmission> {
      const { id, deviceId, now } = attempt;
      const until = guard.missedOutUntil(attempt);
      if (until !== undefined) return { outcome: 'too-many-misses', until };
      const found = findRow(id);
      const room = found && find(found.code)?.room;
      if (!found || !room) {
        guard.miss(attempt);
        return { outcome: 'unknown' };
      }
      const { code, link, roomExpiresAt } = found;
      if (roomExpiresAt <= now) return endForGood(code, now).then(() => ({ outcome: 'expired' }));
      if (isExpired(link, now)) return { outcome: 'expired' };
      if (deviceId) devices.seen(code, { id: deviceId, name: link.name, role: link.role }, now);
      return { outcome: 'admitted', room, link };
    },

    findLink(id, now) {
      const found = findRow(id);
      if (!found || found.roomExpiresAt <= now || isExpired(found.link, now)) return undefined;
      return { code: found.code, link: found.link };
    },

    async createLink(code, link, most, now) {
      return orReason(code, now, await writer.run(createLink, code, link, most, now));
    },

    listLinks: (code, now) => readLive(code, now, (room) => linksOf(sql, room).filter((link) => !isExpired(link, now))),

    async revokeLink(code, id, now) {
      return orReason(code, now, await changing(code, writer.run(revokeLink, code, id, now)));
    },

    noteUse: (code, id, now) => writer.run(noteLinkUse, code, id, now),
  };
}

export function createLink(
  sql: Sql,
  code: RoomCode,
  link: StoredLink,
  most: number,
  now: number,
): 'created' | 'full' | 'gone' {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return gone(sql, code, now);
  sql('DELETE FROM links WHERE room = ? AND expires_at <= ?').get(room, now);
  if (Number(sql('SELECT count(*) AS links FROM links WHERE room = ?').get(room)?.links) >= most) return 'full';
  insertLink(sql, room, link);
  return 'created';
}

export function revokeLink(sql: Sql, code: RoomCode, id: LinkId, now: number): 'revoked' | 'no-link' | 'gone' {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return gone(sql, code, now);
  if (!sql('DELETE FROM links WHERE id = ? AND room = ? RETURNING 1').get(id, room)) return 'no-link';
  dropFiles(sql, 'room = ? AND link = ? AND received IS NOT NULL', room, id);
  return 'revoked';
}

export function noteLinkUse(sql: Sql, code: RoomCode, id: LinkId, now: number): void {
  sql('UPDATE links SET last_used = ? WHERE id = ? AND room = ?').get(now, id, roomIdOf(code));
}

export function insertLink(sql: Sql, room: RoomId, link: StoredLink): void {
  sql('INSERT INTO links (id, room, role, name, created_at, expires_at, last_used) VALUES (?, ?, ?, ?, ?, ?, ?)').get(
    link.id,
    room,
    link.role,
    link.name ?? null,
    link.createdAt,
    link.expiresAt ?? null,
    link.lastUsed ?? null,
  );
}

/** Oldest first. */
export const linksOf = (sql: Sql, room: RoomId): StoredLink[] =>
  sql(`SELECT ${linkColumns} FROM links WHERE room = ? ORDER BY created_at, id`).all(room).map(linkOf);

const linkColumns = 'links.id, role, links.name, links.created_at, links.expires_at, last_used';

const linkOf = (row: Row): StoredLink => ({
  id: row.id as LinkId,
  role: row.role as LinkRole,
  name: (row.name as string | null) ?? undefined,
  createdAt: row.created_at as number,
  expiresAt: (row.expires_at as number | null) ?? undefined,
  lastUsed: (row.last_used as number | null) ?? undefined,
});
