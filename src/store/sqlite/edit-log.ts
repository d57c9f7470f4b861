/** Rows of the log of edits. */
import type { LogRetention, TextEntry } from '../../core/ports.ts';
import type { RoomId } from './room-id.ts';
import type { Sql } from './statements.ts';

const entryColumns = 'version, written_at, device, ref, edits, sealed';

export interface EntryRow {
  version: number;
  written_at: number;
  device: string | null;
  ref: string | null;
  /** JSON. */
  edits: string;
  sealed: string | null;
}

export function entryOf({ version, written_at, device, ref, edits, sealed }: EntryRow): TextEntry {
  const parsed = JSON.parse(edits) as TextEntry['edits'];
  const entry = { version, edits: parsed, deviceId: device ?? undefined, ref: ref ?? undefined, writtenAt: written_at };
  return sealed === null ? entry : { ...entry, sealed };
}

export function entryRowsAfter(sql: Sql, id: RoomId, version: number): EntryRow[] {
  const query = `SELECT ${entryColumns} FROM edits WHERE room = ? AND version > ? ORDER BY version`;
  return sql(query).all(id, version) as unknown as EntryRow[];
}

/** More entries than this are not part of a reply: the reader needs the whole text, or reads the log in parts. */
const maxEntries = 1000;

/** The entries after one version up to the current one; undefined if the log does not have all of them, or too many. */
export function entryRowsBetween(
  sql: Sql,
  id: RoomId,
  { since, version }: { since: number; version: number },
): EntryRow[] | undefined {
  if (since === version) return [];
  if (since > version || version - since > maxEntries) return undefined;
  return entryRowsFrom(sql, id, since, maxEntries);
}

/** Up to `limit` entries after a version; undefined if the log does not go back that far. */
export function entryRowsFrom(sql: Sql, id: RoomId, since: number, limit: number): EntryRow[] | undefined {
  const query = `SELECT ${entryColumns} FROM edits WHERE room = ? AND version > ? ORDER BY version LIMIT ?`;
  const rows = sql(query).all(id, since, limit) as unknown as EntryRow[];
  // The log has no gaps, so it has all of them if it has the first.
  return rows[0]?.version === since + 1 ? rows : undefined;
}

/** Bytes of an entry without its edits. */
const entryOverhead = 64;
export const entrySize = `(${entryOverhead} + octet_length(edits) + ifnull(octet_length(sealed), 0))`;

export function sizeOfEntry(edits: string, sealed: string | undefined): number {
  return entryOverhead + Buffer.byteLength(edits) + (sealed?.length ?? 0);
}

/** The next compaction continues. Deleting more would delay other writes. */
const maxDropped = 5000;

/** Drops entries through a version, the oldest first, until the first one to keep. Returns the bytes of the log. */
export function dropEntries(sql: Sql, id: RoomId, through: number, keep: LogRetention | undefined): number {
  let bytes = Number(sql('SELECT log_bytes FROM rooms WHERE id = ?').get(id)?.log_bytes ?? 0);
  let last = 0;
  const query = `
    SELECT version, written_at, ${entrySize} AS size FROM edits WHERE room = ? AND version <= ? ORDER BY version LIMIT ?
  `;
  for (const { version, written_at, size } of sql(query).iterate(id, through, keep ? maxDropped : -1)) {
    if (keep && Number(written_at) >= keep.writtenSince && bytes <= keep.maxBytes) break;
    last = Number(version);
    bytes -= Number(size);
  }
  if (last === 0) return bytes;
  sql('DELETE FROM edits WHERE room = ? AND version <= ?').get(id, last);
  sql('UPDATE rooms SET log_bytes = ? WHERE id = ?').get(bytes, id);
  return bytes;
}
