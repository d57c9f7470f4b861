/** Reads texts, logs and checkpoints. The caller provides a transaction for methods with several queries. */
import type { Checkpoint, CheckpointInfo, StoredText, TextEntry, TextQuota, TextState } from '../../core/ports.ts';
import { replay } from '../../text/replay.ts';
import { entryOf, entryRowsAfter, entryRowsBetween } from './edit-log.ts';
import type { RoomId } from './room-id.ts';
import { checkpointInfoOf, checkpointOf, ownerOf, type RecordRow } from './rows.ts';
import type { Sql } from './statements.ts';

const checkpointColumns = 'version, written_at, device, size';

export type TextReader = ReturnType<typeof createTextReader>;

export function createTextReader(sql: Sql) {
  /** A room without a row has never been compacted: its log starts with the empty text. */
  function fullTextOf(id: RoomId): { version: number; content: string } {
    const row = sql('SELECT version, content FROM texts WHERE room = ?').get(id);
    return row ? (row as { version: number; content: string }) : { version: 0, content: '' };
  }

  function entriesAfter(id: RoomId, version: number): TextEntry[] {
    return entryRowsAfter(sql, id, version).map(entryOf);
  }

  function currentText(id: RoomId, version: number): string {
    const full = fullTextOf(id);
    if (full.version === version) return full.content;
    return replay(full.content, editsOf(entriesAfter(id, full.version)));
  }

  return {
    /** In the same transaction as the record. */
    readText(id: RoomId, record: RecordRow): StoredText {
      const full = fullTextOf(id);
      const entries = entriesAfter(id, 0);
      const later = entries.filter(({ version }) => version > full.version);
      const history = sql('SELECT max(version) AS version, sum(size) AS bytes FROM history WHERE room = ?').get(id);
      const quota = quotaOf(record, Number(history?.bytes ?? 0));
      return {
        content: {
          content: replay(full.content, editsOf(later)),
          version: record.version,
          writtenAt: record.written_at,
        },
        entries,
        revision: record.revision,
        fullTextVersion: full.version,
        checkpointVersion: Number(history?.version ?? 0),
        keepsHistory: record.keeps_history === 1,
        ...(record.salt !== null && { isEncrypted: true as const }),
        ...(quota && { quota }),
      };
    },

    readTextSince(id: RoomId, { version, written_at, salt }: RecordRow, since: number | undefined): TextState {
      const rows = since === undefined ? undefined : entryRowsBetween(sql, id, { since, version });
      if (rows) return { version, writtenAt: written_at, content: undefined, entries: rows.map(entryOf) };
      if (salt === null) return { version, writtenAt: written_at, content: currentText(id, version), entries: [] };
      const full = fullTextOf(id);
      const sealed = { content: full.content, contentVersion: full.version, entries: entriesAfter(id, full.version) };
      return { version, writtenAt: written_at, ...sealed };
    },

    /** Newest first. */
    listHistory(id: RoomId): CheckpointInfo[] {
      const rows = sql(`SELECT ${checkpointColumns} FROM history WHERE room = ? ORDER BY version DESC`).all(id);
      return rows.map(checkpointInfoOf);
    },

    readCheckpoint(id: RoomId, version: number): Checkpoint | undefined {
      const query = `SELECT ${checkpointColumns}, content FROM history WHERE room = ? AND version = ?`;
      const row = sql(query).get(id, version);
      return row && checkpointOf(row);
    },

    /** Oldest first, with their texts. */
    readHistory(id: RoomId): Checkpoint[] {
      const query = `SELECT ${checkpointColumns}, content FROM history WHERE room = ? ORDER BY version`;
      return sql(query).all(id).map(checkpointOf);
    },
  };
}

function quotaOf(record: RecordRow, historyBytes: number): TextQuota | undefined {
  const owner = ownerOf(record);
  return owner && record.text_charge !== null ? { owner, charged: record.text_charge, historyBytes } : undefined;
}

const editsOf = (entries: readonly TextEntry[]) => entries.map(({ edits }) => edits);
