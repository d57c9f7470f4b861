/** The webhooks of rooms on SQLite. Their rows outlive the room until a node has taken them to report its end. */
import type { Room } from '../../core/ports/basics.ts';
import type { StoredWebhooks, WebhookStore } from '../../core/ports/webhooks.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { gone, roomIdOf } from './cache.ts';
import type { Row, Sql } from './database.ts';
import type { Writer } from './writer.ts';

export function createWebhookStore(sql: Sql, writer: Writer): WebhookStore {
  return {
    read: async (code, now) => readWebhooks(sql, code, now),

    write: (code, webhooks, maxRooms, now) => writer.run(writeWebhooks, code, webhooks, maxRooms, now),

    async scan(now) {
      const rows = sql(`
        SELECT webhooks.code, rooms.id IS NULL AS isEnded, rooms.seq <> webhooks.seq OR webhooks.due_at <= ?1 AS isDue
        FROM webhooks LEFT JOIN rooms ON ${ofSameRoom} AND rooms.expires_at > ?1
      `).all(now);
      const codesOf = (found: Row[]) => found.map(({ code }) => code as RoomCode);
      return {
        all: codesOf(rows),
        due: codesOf(rows.filter(({ isEnded, isDue }) => isEnded === 0 && isDue === 1)),
        ended: codesOf(rows.filter(({ isEnded }) => isEnded === 1)),
      };
    },

    takeEnded: (code, now) => writer.run(takeEndedWebhooks, code, now),
  };
}

/** A later room may have the code of a deleted one. */
const ofSameRoom = 'rooms.id = webhooks.room AND rooms.created_at = webhooks.room_created_at';

export function readWebhooks(sql: Sql, code: RoomCode, now: number): StoredWebhooks | undefined {
  const row = sql(`SELECT document, webhooks.revision, webhooks.seq, due_at FROM webhooks JOIN rooms ON ${ofSameRoom}
    WHERE webhooks.room = ? AND rooms.expires_at > ?`).get(roomIdOf(code), now);
  if (!row) return undefined;
  const { document, revision, seq, due_at } = row;
  return { document: String(document), revision: Number(revision), seq: Number(seq), dueAt: Number(due_at) };
}

type WebhooksToWrite = Parameters<WebhookStore['write']>[1];

export function writeWebhooks(sql: Sql, code: RoomCode, webhooks: WebhooksToWrite, maxRooms: number, now: number) {
  const id = roomIdOf(code);
  const room = sql('SELECT created_at FROM rooms WHERE id = ? AND expires_at > ?').get(id, now);
  if (!room) return gone(sql, code, now);
  sql('DELETE FROM webhooks WHERE room = ? AND room_created_at <> ?').get(id, room.created_at as number);
  const stored = sql('SELECT revision FROM webhooks WHERE room = ?').get(id);
  if (Number(stored?.revision ?? 0) !== webhooks.revision - 1) return 'stale';
  if (!('document' in webhooks)) {
    sql('DELETE FROM webhooks WHERE room = ?').get(id);
    return 'stored';
  }
  if (!stored && Number(sql('SELECT count(*) AS n FROM webhooks').get()?.n) >= maxRooms) return 'full';
  insertWebhooks(sql, { code, createdAt: room.created_at as number }, webhooks);
  return 'stored';
}

export function insertWebhooks(sql: Sql, room: Pick<Room, 'code' | 'createdAt'>, webhooks: StoredWebhooks): void {
  const { revision, seq, dueAt, document } = webhooks;
  const values = [roomIdOf(room.code), room.code, room.createdAt, revision, seq, dueAt, document] as const;
  sql('INSERT OR REPLACE INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?)').get(...values);
}

export function takeEndedWebhooks(sql: Sql, code: RoomCode, now: number): string | undefined {
  const taken = sql(`DELETE FROM webhooks WHERE room = ?1 AND NOT EXISTS (
    SELECT 1 FROM rooms WHERE ${ofSameRoom} AND rooms.expires_at > ?2) RETURNING document`).get(roomIdOf(code), now);
  return taken && String(taken.document);
}
