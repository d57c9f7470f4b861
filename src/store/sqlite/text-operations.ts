/** Changes of texts and their history. Part of the writer's operations. */
import type { Checkpoint, CurrentText, HistoryLimits, TextEntry } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { compress } from './compression.ts';
import { type EntryRow, entryRowsBetween } from './edit-log.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import type { Sql } from './statements.ts';

/**
 * An append for the writer thread. A tuple, because copying an object with its property names between threads takes
 * twice as long (1.1 µs more, of about 60 for a write).
 */
export type AppendWrite = [
  ...texts: AppendTexts,
  version: number,
  writtenAt: number,
  revision: number,
  previousRevision: number,
  /** Entries through this version are dropped. */
  dropThrough: number | undefined,
  deviceId: string | undefined,
  ref: string | undefined,
];

export type AppendTexts = [
  /** JSON; undefined if the log does not keep the entry. */
  edits: string | undefined,
  /** Replaces the stored full text. */
  fullText: string | undefined,
  checkpoint: NewCheckpoint | undefined,
];

interface NewCheckpoint {
  checkpoint: Checkpoint;
  limits: HistoryLimits;
}

/** An entry without its edits. */
type EntryPlace = Pick<TextEntry, 'version' | 'writtenAt'> & { [P in 'deviceId' | 'ref']?: string | undefined };

/** The seq of the append, or the current text if it was another one. */
export type AppendReply = number | StaleReply;

interface StaleReply {
  version: number;
  revision: number;
  entries: EntryRow[] | undefined;
}

/** Undefined if there is no such room. Reads no text, so the cost does not depend on its length. */
export function appendText(sql: Sql, code: RoomCode, append: AppendWrite): AppendReply | undefined {
  const [edits, fullText, checkpoint, version, writtenAt, revision, previousRevision, dropThrough, deviceId, ref] =
    append;
  const id = roomIdOf(code);
  const appended = sql(`
    UPDATE rooms SET version = ?1, revision = ?4, seq = seq + 1, written_at = ?2
    WHERE id = ?3 AND version = ?1 - 1 AND revision = ?5 AND expires_at > ?2 RETURNING seq
  `).get(version, writtenAt, id, revision, previousRevision);
  if (!appended) return staleReply(sql, id, version, writtenAt);
  if (edits !== undefined) insertEntry(sql, id, { version, writtenAt, deviceId, ref }, edits);
  if (fullText !== undefined) putFullText(sql, id, { version, content: fullText });
  if (dropThrough !== undefined) sql('DELETE FROM edits WHERE room = ? AND version <= ?').get(id, dropThrough);
  if (checkpoint) {
    trimHistory(sql, id, checkpoint);
    putCheckpoint(sql, id, checkpoint.checkpoint);
  }
  return Number(appended.seq);
}

function staleReply(sql: Sql, id: RoomId, version: number, writtenAt: number): StaleReply | undefined {
  const room = sql('SELECT version, revision FROM rooms WHERE id = ? AND expires_at > ?').get(id, writtenAt);
  if (!room) return undefined;
  const current = Number(room.version);
  const entries = entryRowsBetween(sql, id, { since: version - 1, version: current });
  return { version: current, revision: Number(room.revision), entries };
}

/** Undefined if there is no such room. */
export function clearHistory(
  sql: Sql,
  code: RoomCode,
  current: CurrentText,
  now: number,
): 'cleared' | 'stale' | undefined {
  const id = roomIdOf(code);
  const room = sql('SELECT version, revision FROM rooms WHERE id = ? AND expires_at > ?').get(id, now);
  if (!room) return undefined;
  if (room.version !== current.version || room.revision !== current.revision) return 'stale';
  putFullText(sql, id, current);
  for (const table of ['edits', 'history']) sql(`DELETE FROM ${table} WHERE room = ?`).get(id);
  return 'cleared';
}

export function insertEntry(sql: Sql, room: RoomId, entry: EntryPlace, edits: string): void {
  sql('INSERT INTO edits (room, version, written_at, device, ref, edits) VALUES (?, ?, ?, ?, ?, ?)').get(
    room,
    entry.version,
    entry.writtenAt,
    entry.deviceId ?? null,
    entry.ref ?? null,
    edits,
  );
}

/** A longer text is stored in overflow pages. */
const longText = 2000;

export function putFullText(sql: Sql, room: RoomId, { version, content }: { version: number; content: string }): void {
  // Lets the new text reuse the pages of the old one, which would otherwise be overwritten with zeros too.
  if (content.length > longText) sql('DELETE FROM texts WHERE room = ?').get(room);
  sql(`
    INSERT INTO texts (room, version, content) VALUES (?, ?, ?)
    ON CONFLICT (room) DO UPDATE SET version = excluded.version, content = excluded.content
  `).get(room, version, content);
}

export function putCheckpoint(sql: Sql, room: RoomId, checkpoint: Checkpoint): void {
  sql(
    'INSERT OR REPLACE INTO history (room, version, written_at, device, size, content) VALUES (?, ?, ?, ?, ?, ?)',
  ).get(
    room,
    checkpoint.version,
    checkpoint.writtenAt,
    checkpoint.deviceId ?? null,
    checkpoint.size,
    compress(checkpoint.content),
  );
}

/**
 * Deletes the checkpoint of the same version and the oldest ones over the limits. Runs before the new one is stored, so
 * that it reuses their pages.
 */
function trimHistory(sql: Sql, room: RoomId, { checkpoint, limits }: NewCheckpoint): void {
  sql(`
    DELETE FROM history WHERE room = ?1 AND (version = ?2 OR version <= (
      SELECT max(version) FROM (
        SELECT version, row_number() OVER newest_first AS rank, sum(size) OVER newest_first AS total
        FROM history WHERE room = ?1 AND version < ?2 WINDOW newest_first AS (ORDER BY version DESC)
      ) WHERE rank + 1 > ?3 OR total + ?4 > ?5
    ))
  `).get(room, checkpoint.version, limits.checkpoints, checkpoint.size, limits.bytes);
}
