/** Rows of the log of edits. */
import type { TextEntry } from '../../core/ports.ts';
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

/** The entries after one version up to the current one; undefined if the log does not have all of them. */
export function entryRowsBetween(
  sql: Sql,
  id: RoomId,
  { since, version }: { since: number; version: number },
): EntryRow[] | undefined {
  if (since === version) return [];
  if (since > version) return undefined;
  // The log has no gaps, so it has all of them if it has the first.
  const rows = sql(`
    SELECT ${entryColumns} FROM edits WHERE room = ?1 AND version > ?2
    AND EXISTS (SELECT 1 FROM edits WHERE room = ?1 AND version = ?2 + 1) ORDER BY version
  `).all(id, since);
  return rows.length === 0 ? undefined : (rows as unknown as EntryRow[]);
}
