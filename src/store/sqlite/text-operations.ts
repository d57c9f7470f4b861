/** Changes of texts and their history. Part of the writer's operations. */
import type { Checkpoint, CurrentText, HistoryLimits, TextCompaction, TextEntry } from '../../core/ports.ts';
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
  /** The entry of an encrypted room. */
  sealed: string | undefined,
];

interface NewCheckpoint {
  checkpoint: Checkpoint;
  limits: HistoryLimits;
}

/** An entry without its edits. */
type EntryPlace = Pick<TextEntry, 'version' | 'writtenAt'> & {
  [P in 'deviceId' | 'ref' | 'sealed']?: string | undefined;
};

/** The seq of the append, or the current text if it was another one. */
export type AppendReply = number | StaleReply;

interface StaleReply {
  version: number;
  revision: number;
  entries: EntryRow[] | undefined;
}

/** Undefined if there is no such room. Reads no text, so the cost does not depend on its length. */
export function appendText(sql: Sql, code: RoomCode, append: AppendWrite): AppendReply | undefined {
  const [edits, fullText, checkpoint, sealed, version, writtenAt, revision, previousRevision, ...rest] = append;
  const [dropThrough, deviceId, ref] = rest;
  const id = roomIdOf(code);
  const appended = sql(`
    UPDATE rooms SET version = ?1, revision = ?4, seq = seq + 1, written_at = ?2
    WHERE id = ?3 AND version = ?1 - 1 AND revision = ?5 AND expires_at > ?2 RETURNING seq
  `).get(version, writtenAt, id, revision, previousRevision);
  if (!appended) return staleReply(sql, id, version, writtenAt);
  if (edits !== undefined) insertEntry(sql, id, { version, writtenAt, deviceId, ref, sealed }, edits);
  if (fullText !== undefined) putFullText(sql, id, { version, content: fullText });
  if (dropThrough !== undefined) sql('DELETE FROM edits WHERE room = ? AND version <= ?').get(id, dropThrough);
  if (checkpoint) addCheckpoint(sql, id, checkpoint);
  return Number(appended.seq);
}

/** Undefined if there is no such room. */
export function compactText(
  sql: Sql,
  code: RoomCode,
  { version, content, dropThrough, current, checkpoint }: TextCompaction,
  now: number,
): 'compacted' | 'stale' | undefined {
  const id = roomIdOf(code);
  const isCurrent = checkCurrent(sql, id, current, now);
  if (isCurrent !== true) return isCurrent;
  const full = sql('SELECT version FROM texts WHERE room = ?').get(id);
  if (full && Number(full.version) >= version) return 'compacted';
  putFullText(sql, id, { version, content });
  sql('DELETE FROM edits WHERE room = ? AND version <= ?').get(id, dropThrough);
  if (checkpoint) addCheckpoint(sql, id, checkpoint);
  return 'compacted';
}

/** Undefined if there is no such room. */
function checkCurrent(
  sql: Sql,
  id: RoomId,
  current: Pick<CurrentText, 'version' | 'revision'>,
  now: number,
): true | 'stale' | undefined {
  const room = sql('SELECT version, revision FROM rooms WHERE id = ? AND expires_at > ?').get(id, now);
  if (!room) return undefined;
  return (room.version === current.version && room.revision === current.revision) || 'stale';
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
  const isCurrent = checkCurrent(sql, id, current, now);
  if (isCurrent !== true) return isCurrent;
  const { version, fullTextVersion = version, content } = current;
  if (fullTextVersion > 0) putFullText(sql, id, { version: fullTextVersion, content });
  sql('DELETE FROM edits WHERE room = ? AND version <= ?').get(id, fullTextVersion);
  sql('DELETE FROM history WHERE room = ?').get(id);
  return 'cleared';
}

export function insertEntry(sql: Sql, room: RoomId, entry: EntryPlace, edits: string): void {
  sql('INSERT INTO edits (room, version, written_at, device, ref, edits, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)').get(
    room,
    entry.version,
    entry.writtenAt,
    entry.deviceId ?? null,
    entry.ref ?? null,
    edits,
    entry.sealed ?? null,
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

function addCheckpoint(sql: Sql, room: RoomId, added: NewCheckpoint): void {
  trimHistory(sql, room, added);
  putCheckpoint(sql, room, added.checkpoint);
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
