/** The text of a room and its history: reads here, writes through the writer. */

import type { MissingReason } from '../../core/ports/basics.ts';
import {
  type AppendOutcome,
  type Checkpoint,
  type CheckpointInfo,
  type KnownText,
  type LastRefs,
  recentEntries,
  type StoredText,
  type TextAppend,
  type TextEntry,
  type TextQuota,
  type TextState,
  type TextStore,
  withRefsOf,
} from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { replay } from '../../text/document.ts';
import { ownerOf, type RecordRow, type RoomCache, type RoomId } from './cache.ts';
import type { Sql } from './database.ts';
import {
  type AppendReply,
  type AppendWrite,
  appendText,
  checkpointInfoOf,
  checkpointOf,
  clearHistory,
  compactText,
  type EntryRow,
  entryOf,
  entryRowsAfter,
  entryRowsBetween,
  entryRowsFrom,
} from './text-log.ts';
import type { NewCheckpoint, Writer } from './writer.ts';

interface TextStoreDeps {
  texts: TextReader;
  writer: Writer;
  cache: RoomCache;
  /** Reads an unexpired room in one transaction. */
  readLive<T>(code: RoomCode, now: number, read: (id: RoomId, record: RecordRow) => T): Promise<T | MissingReason>;
  missingReason(code: RoomCode, now: number): MissingReason;
}

export function createTextStore({ texts, writer, cache, readLive, missingReason }: TextStoreDeps): TextStore {
  function outcomeOf(code: RoomCode, append: TextAppend, reply: AppendReply | 'gone'): AppendOutcome {
    if (reply === 'gone') {
      cache.drop(code);
      return { outcome: missingReason(code, append.entry.writtenAt) };
    }
    if (typeof reply === 'object' && 'repeated' in reply) return { outcome: 'repeated', request: reply.repeated };
    if (typeof reply === 'object' && !Array.isArray(reply))
      return { outcome: 'stale', ...reply, entries: reply.entries?.map(entryOf) };
    cacheContent(code, append);
    if (typeof reply === 'number') return { outcome: 'appended', seq: reply };
    const [seq, logBytes] = reply;
    return { outcome: 'appended', seq, logBytes };
  }

  function cacheContent(code: RoomCode, { content, entry: { version, writtenAt } }: TextAppend): void {
    if (content === undefined) cache.dropContent(code);
    else cache.putContent(code, { content, version, writtenAt });
  }

  /** Drops the cached text: in an encrypted room, it consists of the full text and the log. */
  const rewriting = <T>(code: RoomCode, change: Promise<T>): Promise<T> =>
    change.finally(() => cache.dropContent(code));

  function orReason<T extends string>(code: RoomCode, now: number, outcome: T | 'gone'): T | MissingReason {
    if (outcome !== 'gone') return outcome;
    cache.drop(code);
    return missingReason(code, now);
  }

  return {
    readText: (code, now) => readLive(code, now, texts.readText),

    readEdits: (code, since, limit, now) =>
      readLive(code, now, (id, record) => texts.readEdits(id, record, since, limit)),

    /** Several appends of a room may run concurrently. They are acknowledged and cached in order. */
    async appendText(code, append) {
      try {
        return outcomeOf(code, append, await writer.run(appendText, code, ...toWrite(append)));
      } catch (error) {
        // It may have been written.
        cache.drop(code);
        throw error;
      }
    },

    listHistory: (code, now) => readLive(code, now, texts.listHistory),

    readCheckpoint: (code, version, now) =>
      readLive(code, now, (id) => texts.readCheckpoint(id, version) ?? 'no-checkpoint'),

    async compactText(code, compaction, now) {
      return orReason(code, now, await rewriting(code, writer.run(compactText, code, compaction, now)));
    },

    async clearHistory(code, current, now) {
      return orReason(code, now, await rewriting(code, writer.run(clearHistory, code, current, now)));
    },
  };
}

function toWrite({ entry, revision, previousRevision, compaction, checkpoint, record }: TextAppend): AppendWrite {
  const { version, writtenAt, deviceId, ref } = entry;
  const isKept = !compaction || compaction.dropThrough < version;
  const edits = isKept ? JSON.stringify(entry.edits) : undefined;
  const drop =
    compaction && !compaction.isLogEmpty ? { through: compaction.dropThrough, keep: compaction.keep } : undefined;
  const write: AppendWrite = [
    ...([edits, compaction?.content, checkpoint && checkpointToWrite(checkpoint), entry.sealed] as const),
    ...([version, writtenAt, revision, previousRevision, drop, deviceId, ref, compaction?.lastRefs] as const),
  ];
  if (record) write.push(record);
  return write;
}

/** Without the text if the writer can copy it. */
function checkpointToWrite({ checkpoint, limits, isFullText }: NonNullable<TextAppend['checkpoint']>): NewCheckpoint {
  return { checkpoint: isFullText ? { ...checkpoint, content: undefined } : checkpoint, limits };
}

const checkpointColumns = 'version, written_at, device, size';

type TextReader = ReturnType<typeof createTextReader>;

/** Reads texts, logs and checkpoints. The caller provides a transaction for methods with several queries. */
export function createTextReader(sql: Sql) {
  /** A room without a row has never been compacted: its log starts with the empty text. */
  function fullTextOf(id: RoomId): { version: number; content: string; lastRefs: LastRefs } {
    const row = sql('SELECT version, content, last_refs FROM texts WHERE room = ?').get(id);
    if (!row) return { version: 0, content: '', lastRefs: [] };
    const { version, content, last_refs } = row as { version: number; content: string; last_refs: string | null };
    return { version, content, lastRefs: last_refs === null ? [] : JSON.parse(last_refs) };
  }

  function entriesAfter(id: RoomId, version: number): TextEntry[] {
    return entryRowsAfter(sql, id, version).map(entryOf);
  }

  function rowsSince(id: RoomId, record: RecordRow, known: KnownText): EntryRow[] | undefined {
    const { version, written_at } = record;
    if (known.version === version && known.writtenAt === written_at) return [];
    // The entry of the known version shows whether it is the same text. A log that starts after it does not have it.
    const [own, ...newer] = entryRowsBetween(sql, id, { since: known.version - 1, version }) ?? [];
    if (own) return own.written_at === known.writtenAt ? newer : undefined;
    return known.version < version ? entryRowsBetween(sql, id, { since: known.version, version }) : undefined;
  }

  return {
    /** In the same transaction as the record. */
    readText(id: RoomId, record: RecordRow): StoredText {
      const full = fullTextOf(id);
      const entries = entriesAfter(id, Math.min(full.version, record.version - recentEntries));
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
        logBytes: Number(sql('SELECT log_bytes FROM rooms WHERE id = ?').get(id)?.log_bytes ?? 0),
        lastRefs: withRefsOf(full.lastRefs, later),
        revision: record.revision,
        fullTextVersion: full.version,
        checkpointVersion: Number(history?.version ?? 0),
        keepsHistory: record.keeps_history === 1,
        ...(record.salt !== null && { isEncrypted: true as const }),
        ...(quota && { quota }),
      };
    },

    /** All entries of the log. */
    readLog: (id: RoomId): TextEntry[] => entriesAfter(id, 0),

    readEdits: (id: RoomId, record: RecordRow, since: number, limit: number): TextEntry[] | 'no-log' =>
      since === record.version ? [] : (entryRowsFrom(sql, id, since, limit)?.map(entryOf) ?? 'no-log'),

    readTextSince(id: RoomId, record: RecordRow, known: KnownText | undefined): TextState {
      const { version, written_at: writtenAt, salt } = record;
      const rows = known && rowsSince(id, record, known);
      if (rows) return { version, writtenAt, content: undefined, entries: rows.map(entryOf) };
      const full = fullTextOf(id);
      const later = entriesAfter(id, full.version);
      const lastRefs = withRefsOf(full.lastRefs, later);
      if (salt === null)
        return { version, writtenAt, content: replay(full.content, editsOf(later)), entries: [], lastRefs };
      return { version, writtenAt, content: full.content, contentVersion: full.version, entries: later, lastRefs };
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
