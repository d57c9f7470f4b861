/** Rooms for operators, read in batches so that no read transaction stays open. */
import type { DatabaseSync } from 'node:sqlite';
import type { RoomSummaries, RoomSummary } from '../../core/ports.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import { roomOf } from './rows.ts';
import { prepareOnce } from './statements.ts';

/** A batch takes a few milliseconds, in which the server does nothing else. */
const batchSize = 200;

const summaryQuery = `
  SELECT code, created_at, expires_at, pin_mac, salt, file_count, file_bytes, client,
    (SELECT coalesce(sum(octet_length(content)), 0) FROM texts WHERE room = rooms.id)
    + (SELECT coalesce(sum(octet_length(content)), 0) FROM history WHERE room = rooms.id)
    + (SELECT coalesce(sum(octet_length(edits) + ifnull(octet_length(sealed), 0)), 0) FROM edits WHERE room = rooms.id) AS text_bytes
  FROM rooms
`;

export function createRoomSummaries(db: DatabaseSync): RoomSummaries {
  const sql = prepareOnce(db);
  return {
    async *list(now) {
      const query = `${summaryQuery} WHERE id > ? AND expires_at > ? ORDER BY id LIMIT ${batchSize}`;
      for (let last: RoomId = -1; ; ) {
        const batch = sql(query).all(last, now).map(summaryOf);
        yield* batch;
        const end = batch[batchSize - 1];
        if (!end) return;
        last = roomIdOf(end.code);
        await new Promise(setImmediate);
      }
    },

    async find(code, now) {
      const row = sql(`${summaryQuery} WHERE id = ? AND expires_at > ?`).get(roomIdOf(code), now);
      return row && summaryOf(row);
    },
  };
}

/** Names of rooms are not for operators. */
function summaryOf(row: Record<string, unknown>): RoomSummary {
  const { name, ...room } = roomOf(row);
  return { ...room, textBytes: Number(row.text_bytes), client: (row.client as string | null) ?? undefined };
}
