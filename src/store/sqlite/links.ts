/** The links of rooms. Changes return `gone` if there is no such room. */

import { isExpired, type LinkAdmission, type LinkStore, type StoredLink } from '../../core/ports/rooms.ts';
import type { LinkId, RoomCode } from '../../core/room-code.ts';
import type { AccessDeps } from './access.ts';
import { inLiveRoom, type RoomId, roomIdOf } from './cache.ts';
import { fieldsOf, insert, rowsOf, type Sql } from './database.ts';
import { dropFiles } from './files.ts';
import type { Writer } from './writer.ts';

export function createLinkStore({ rooms, guard, devices }: AccessDeps, writer: Writer): LinkStore {
  const { sql, find, readLive, change, endForGood } = rooms;
  const linkById = sql(`
    SELECT ${linkColumns}, code, rooms.expires_at AS roomExpiresAt FROM links JOIN rooms ON rooms.id = room
    WHERE links.id = ?
  `);

  /** The reader of this connection sees every acknowledged change, so a revoked link is never found. */
  function findRow(id: LinkId): { code: RoomCode; link: StoredLink; roomExpiresAt: number } | undefined {
    rooms.beginRead();
    const row = linkById.get(id);
    if (!row) return undefined;
    const { code, roomExpiresAt, ...link } = row;
    return { code: code as RoomCode, roomExpiresAt: roomExpiresAt as number, link: fieldsOf(link) };
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

    createLink: (code, link, most, now) => change(createLink, code, now, link, most),

    listLinks: (code, now) => readLive(code, now, (room) => linksOf(sql, room).filter((link) => !isExpired(link, now))),

    revokeLink: (code, id, now) => change(revokeLink, code, now, id),

    noteUse: (code, id, now) => writer.run(noteLinkUse, code, id, now),
  };
}

export const createLink = inLiveRoom((sql, room, now, link: StoredLink, most: number) => {
  sql('DELETE FROM links WHERE room = ? AND expires_at <= ?').get(room, now);
  if (Number(sql('SELECT count(*) AS links FROM links WHERE room = ?').get(room)?.links) >= most) return 'full';
  insertLink(sql, room, link);
  return 'created';
});

export const revokeLink = inLiveRoom((sql, room, _now, id: LinkId) => {
  if (!sql('DELETE FROM links WHERE id = ? AND room = ? RETURNING 1').get(id, room)) return 'no-link';
  dropFiles(sql, 'room = ? AND link = ? AND received IS NOT NULL', room, id);
  return 'revoked';
});

export function noteLinkUse(sql: Sql, code: RoomCode, id: LinkId, now: number): void {
  sql('UPDATE links SET last_used = ? WHERE id = ? AND room = ?').get(now, id, roomIdOf(code));
}

export function insertLink(sql: Sql, room: RoomId, { id, role, name, createdAt, expiresAt, lastUsed }: StoredLink) {
  const times = { created_at: createdAt, expires_at: expiresAt, last_used: lastUsed };
  insert(sql, 'links', { id, room, role, name, ...times });
}

/** Oldest first. */
export const linksOf = (sql: Sql, room: RoomId): StoredLink[] =>
  rowsOf(sql, `SELECT ${linkColumns} FROM links WHERE room = ? ORDER BY created_at, id`, room);

const linkColumns = `
  links.id, role, links.name, links.created_at AS createdAt, links.expires_at AS expiresAt, last_used AS lastUsed
`;
