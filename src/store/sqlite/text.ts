/** The text of a room, its log and its history. Reads run here, changes in the writer thread. */
import type { MissingReason, Repeated, RequestRecord } from '../../core/ports/basics.ts';
import {
  type AppendOutcome,
  type Checkpoint,
  type CheckpointInfo,
  type CurrentText,
  type KnownText,
  type LastRefs,
  type LogRetention,
  recentEntries,
  type StoredText,
  type TextAppend,
  type TextCompaction,
  type TextEntry,
  type TextQuota,
  type TextState,
  type TextStore,
  withRefsOf,
} from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { replay } from '../../text/document.ts';
import { gone, inLiveRoom, ownerOf, type RecordRow, type RoomId, type RoomReader, roomIdOf } from './cache.ts';
import { fieldsOf, insert, type Row, rowsOf, type Sql } from './database.ts';
import { findRequest, rememberRequest } from './idempotency.ts';
import type { AppendTexts, NewCheckpoint, Writer } from './writer.ts';

export function createTextStore(rooms: RoomReader, texts: TextReader, writer: Writer): TextStore {
  const { cache, readLive, orReason, change } = rooms;

  function outcomeOf(code: RoomCode, append: TextAppend, reply: AppendReply | MissingReason): AppendOutcome {
    if (typeof reply === 'string') return { outcome: reply };
    if (typeof reply === 'object' && 'repeated' in reply) return { outcome: 'repeated', request: reply.repeated };
    if (typeof reply === 'object' && !Array.isArray(reply))
      return { outcome: 'stale', ...reply, entries: reply.entries?.map(entryOf) };
    cacheContent(code, append);
    if (typeof reply === 'number') return { outcome: 'appended', seq: reply };
    const [seq, logBytes] = reply;
    return { outcome: 'appended', seq, logBytes };
  }

  function cacheContent(code: RoomCode, { content, entry: { version, writtenAt } }: TextAppend): void {
    if (content === undefined) cache.putText(code, { content: undefined });
    else cache.putContent(code, { content, version, writtenAt });
  }

  return {
    readText: (code, now) => readLive(code, now, texts.readText),

    readEdits: (code, since, limit, now) =>
      readLive(code, now, (id, record) => texts.readEdits(id, record, since, limit)),

    /** Several appends of a room may run concurrently. They are acknowledged and cached in order. */
    appendText: (code, append) =>
      writer.run(appendText, code, toWrite(append)).then(
        (reply) => outcomeOf(code, append, orReason(code, append.entry.writtenAt, reply)),
        (error) => {
          // It may have been written.
          cache.drop(code);
          throw error;
        },
      ),

    listHistory: (code, now) => readLive(code, now, texts.listHistory),

    readCheckpoint: (code, version, now) =>
      readLive(code, now, (id) => texts.readCheckpoint(id, version) ?? 'no-checkpoint'),

    compactText: (code, compaction, now) => change(compactText, code, now, compaction),
    clearHistory: (code, current, now) => change(clearHistory, code, now, current),
  };
}

function toWrite({ entry, revision, previousRevision, compaction, checkpoint, record }: TextAppend): AppendWrite {
  const { version, writtenAt, deviceId, ref } = entry;
  const isKept = !compaction || compaction.dropThrough < version;
  const edits = isKept ? JSON.stringify(entry.edits) : undefined;
  const fullText = compaction?.isUnchanged ? undefined : compaction?.content;
  const drop =
    compaction && !compaction.isLogEmpty ? { through: compaction.dropThrough, keep: compaction.keep } : undefined;
  const kept = checkpoint && checkpointToWrite(checkpoint);
  const { sealed } = entry;
  const lastRefs = compaction?.lastRefs;
  // biome-ignore format: one for each element
  return [edits, fullText, kept, sealed, version, writtenAt, revision, previousRevision, drop, deviceId, ref, lastRefs, record];
}

/** Without the text if the writer can copy it. */
const checkpointToWrite = ({
  checkpoint,
  limits,
  isFullText,
}: NonNullable<TextAppend['checkpoint']>): NewCheckpoint => ({
  checkpoint: isFullText ? { ...checkpoint, content: undefined } : checkpoint,
  limits,
});

const checkpointColumns = 'version, written_at AS writtenAt, device AS deviceId, size';

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
    const query = `SELECT ${entryColumns} FROM edits WHERE room = ? AND version > ? ORDER BY version`;
    return (sql(query).all(id, version) as unknown as EntryRow[]).map(entryOf);
  }

  function rowsSince(id: RoomId, record: RecordRow, known: KnownText): EntryRow[] | undefined {
    const { version, written_at } = record;
    if (known.version === version && known.writtenAt === written_at) return [];
    // The entry of the known version shows whether it is the same text. A log that starts after it does not have it.
    const [own, ...newer] = entryRowsBetween(sql, id, known.version - 1, version) ?? [];
    if (own) return own.written_at === known.writtenAt ? newer : undefined;
    return known.version < version ? entryRowsBetween(sql, id, known.version, version) : undefined;
  }

  return {
    /** In the same transaction as the record. */
    readText(id: RoomId, record: RecordRow): StoredText {
      const full = fullTextOf(id);
      const entries = entriesAfter(id, Math.min(full.version, record.version - recentEntries));
      const later = entries.filter(({ version }) => version > full.version);
      const history = sql('SELECT max(version) AS version, sum(size) AS bytes FROM history WHERE room = ?').get(id);
      const quota = quotaOf(record, Number(history?.bytes ?? 0));
      const content = replay(full.content, editsOf(later));
      return {
        content: { content, version: record.version, writtenAt: record.written_at },
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
    listHistory: (id: RoomId): CheckpointInfo[] =>
      rowsOf(sql, `SELECT ${checkpointColumns} FROM history WHERE room = ? ORDER BY version DESC`, id),

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

/**
 * An append for the writer thread. A tuple, because copying an object with its property names between threads takes
 * twice as long (1.1 µs more, of about 60 for a write).
 */
type AppendWrite = [
  ...texts: AppendTexts,
  version: number,
  writtenAt: number,
  revision: number,
  previousRevision: number,
  /** Drops entries of the log. */
  drop: LogDrop | undefined,
  deviceId: string | undefined,
  ref: string | undefined,
  /** Stored with the full text. */
  lastRefs: LastRefs | undefined,
  record: RequestRecord | undefined,
];

type LogDrop = { through: number; keep: LogRetention | undefined };

/** An entry without its edits. */
type EntryPlace = Pick<TextEntry, 'version' | 'writtenAt'> & {
  [P in 'deviceId' | 'ref' | 'sealed']?: string | undefined;
};

/** The bytes of the log if entries were dropped; the current text if it was another one. */
type AppendReply = number | [seq: number, logBytes: number] | StaleReply | Repeated;

type StaleReply = { version: number; revision: number; entries: EntryRow[] | undefined };

/** Reads no text, so the cost does not depend on its length. */
export function appendText(sql: Sql, code: RoomCode, append: AppendWrite): AppendReply | 'gone' {
  // biome-ignore format: one for each element
  const [edits, fullText, checkpoint, sealed, version, writtenAt, revision, previousRevision, drop, deviceId, ref, lastRefs, record] = append;
  const id = roomIdOf(code);
  const repeated = record && findRequest(sql, record, writtenAt);
  if (repeated) return { repeated };
  const logged = edits === undefined ? 0 : sizeOfEntry(edits, sealed);
  const appended = sql(`
    UPDATE rooms SET version = ?1, revision = ?4, seq = seq + 1, written_at = ?2, log_bytes = log_bytes + ?6
    WHERE id = ?3 AND version = ?1 - 1 AND revision = ?5 AND expires_at > ?2 RETURNING seq
  `).get(version, writtenAt, id, revision, previousRevision, logged);
  if (!appended) return staleReply(sql, id, version, writtenAt) ?? gone(sql, code, writtenAt);
  if (edits !== undefined) insertEntry(sql, id, { version, writtenAt, deviceId, ref, sealed }, edits);
  // Before the full text is replaced, which the checkpoint may be a copy of.
  if (checkpoint) addCheckpoint(sql, id, checkpoint);
  if (fullText !== undefined) putFullText(sql, id, { version, content: fullText, lastRefs });
  const logBytes = drop && dropEntries(sql, id, drop.through, drop.keep);
  if (record) rememberRequest(sql, record);
  return logBytes === undefined ? Number(appended.seq) : [Number(appended.seq), logBytes];
}

export const compactText = inLiveRoom((sql, id, _now, compaction: TextCompaction) => {
  const { version, content, dropThrough, keep, lastRefs, current, checkpoint } = compaction;
  if (!isCurrent(sql, id, current)) return 'stale';
  const full = sql('SELECT version FROM texts WHERE room = ?').get(id);
  if (full && Number(full.version) >= version) return 'compacted';
  putFullText(sql, id, { version, content, lastRefs });
  dropEntries(sql, id, dropThrough, keep);
  if (checkpoint) addCheckpoint(sql, id, checkpoint);
  return 'compacted';
});

const isCurrent = (sql: Sql, id: RoomId, { version, revision }: Pick<CurrentText, 'version' | 'revision'>): boolean =>
  sql('SELECT 1 FROM rooms WHERE id = ? AND version = ? AND revision = ?').get(id, version, revision) !== undefined;

function staleReply(sql: Sql, id: RoomId, version: number, writtenAt: number): StaleReply | undefined {
  const room = sql('SELECT version, revision FROM rooms WHERE id = ? AND expires_at > ?').get(id, writtenAt);
  if (!room) return undefined;
  const current = Number(room.version);
  const entries = entryRowsBetween(sql, id, version - 1, current);
  return { version: current, revision: Number(room.revision), entries };
}

export const clearHistory = inLiveRoom((sql, id, _now, current: CurrentText) => {
  if (!isCurrent(sql, id, current)) return 'stale';
  const { version, fullTextVersion = version, content, lastRefs } = current;
  if (fullTextVersion > 0) putFullText(sql, id, { version: fullTextVersion, content, lastRefs });
  dropEntries(sql, id, fullTextVersion, undefined);
  sql('DELETE FROM history WHERE room = ?').get(id);
  return 'cleared';
});

export function insertEntry(sql: Sql, room: RoomId, entry: EntryPlace, edits: string): void {
  const { version, writtenAt, deviceId = null, ref = null, sealed = null } = entry;
  const query =
    'INSERT INTO edits (room, version, written_at, device, ref, edits, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)';
  sql(query).get(room, version, writtenAt, deviceId, ref, edits, sealed);
}

/** A longer text is stored in overflow pages. */
const longText = 2000;

type FullText = { version: number; content: string; lastRefs: LastRefs | undefined };

export function putFullText(sql: Sql, room: RoomId, { version, content, lastRefs }: FullText): void {
  // Lets the new text reuse the pages of the old one, which would otherwise be overwritten with zeros too.
  if (content.length > longText) sql('DELETE FROM texts WHERE room = ?').get(room);
  sql(`
    INSERT INTO texts (room, version, content, last_refs) VALUES (?, ?, ?, ?)
    ON CONFLICT (room) DO UPDATE
    SET version = excluded.version, content = excluded.content, last_refs = excluded.last_refs
  `).get(room, version, content, lastRefs?.length ? JSON.stringify(lastRefs) : null);
}

function addCheckpoint(sql: Sql, room: RoomId, added: NewCheckpoint): void {
  trimHistory(sql, room, added);
  const { content, ...info } = added.checkpoint;
  if (content === undefined) copyFullText(sql, room, info);
  else putCheckpoint(sql, room, { ...info, content });
}

/** The stored full text may be that of an earlier version. Not compressed, which would take longer than writing it. */
function copyFullText(sql: Sql, room: RoomId, { version, writtenAt, deviceId, size }: CheckpointInfo): void {
  sql(`
    INSERT INTO history (room, version, written_at, device, size, content)
    SELECT room, ?, ?, ?, ?, content FROM texts WHERE room = ?
  `).get(version, writtenAt, deviceId ?? null, size, room);
}

export function putCheckpoint(sql: Sql, room: RoomId, checkpoint: Checkpoint): void {
  const { version, writtenAt, deviceId, size } = checkpoint;
  const content = compress(checkpoint.content);
  insert(sql, 'history', { room, version, written_at: writtenAt, device: deviceId, size, content });
}

/**
 * Deletes the checkpoint of the same version and the oldest ones over the limits. Runs before the new one is stored, so
 * that it reuses their pages.
 */
function trimHistory(sql: Sql, room: RoomId, { checkpoint, limits }: NewCheckpoint): void {
  sql('DELETE FROM history WHERE room = ? AND version = ?').get(room, checkpoint.version);
  const kept = sql('SELECT count(*) AS count, total(size) AS bytes FROM history WHERE room = ?').get(room);
  let bytes = Number(kept?.bytes);
  for (let count = Number(kept?.count); count > 0; count--) {
    if (count < limits.checkpoints && bytes + checkpoint.size <= limits.bytes) return;
    bytes -= dropOldest(sql, room);
  }
}

/** Returns its size. */
function dropOldest(sql: Sql, room: RoomId): number {
  const oldest = 'SELECT rowid FROM history WHERE room = ? ORDER BY version LIMIT 1';
  return Number(sql(`DELETE FROM history WHERE rowid = (${oldest}) RETURNING size`).get(room)?.size);
}

const entryColumns = 'version, written_at, device, ref, edits, sealed';

interface EntryRow {
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

/** More entries than this are not part of a reply: the reader needs the whole text, or reads the log in parts. */
const maxEntries = 1000;

/** The entries after one version up to the current one; undefined if the log does not have all of them, or too many. */
function entryRowsBetween(sql: Sql, id: RoomId, since: number, version: number): EntryRow[] | undefined {
  if (since === version) return [];
  if (since > version || version - since > maxEntries) return undefined;
  return entryRowsFrom(sql, id, since, maxEntries);
}

/** Up to `limit` entries after a version; undefined if the log does not go back that far. */
function entryRowsFrom(sql: Sql, id: RoomId, since: number, limit: number): EntryRow[] | undefined {
  const query = `SELECT ${entryColumns} FROM edits WHERE room = ? AND version > ? ORDER BY version LIMIT ?`;
  const rows = sql(query).all(id, since, limit) as unknown as EntryRow[];
  // The log has no gaps, so it has all of them if it has the first.
  return rows[0]?.version === since + 1 ? rows : undefined;
}

/** Bytes of an entry without its edits. */
const entryOverhead = 64;
export const entrySize = `(${entryOverhead} + octet_length(edits) + ifnull(octet_length(sealed), 0))`;

const sizeOfEntry = (edits: string, sealed: string | undefined): number =>
  entryOverhead + Buffer.byteLength(edits) + (sealed?.length ?? 0);

/** The next compaction continues. Deleting more would delay other writes. */
const maxDropped = 5000;

/** Drops entries through a version, the oldest first, until the first one to keep. Returns the bytes of the log. */
function dropEntries(sql: Sql, id: RoomId, through: number, keep: LogRetention | undefined): number {
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

/** A short text is not compressed: that takes longer than writing it. */
type Compressed = Uint8Array | string;

const shortText = 4096;

/** Checkpoints are compressed, because a long text is stored again every 30 seconds while someone edits it. */
export function compress(text: string): Compressed {
  if (text.length <= shortText) return text;
  const { constants, zstdCompressSync } = process.getBuiltinModule('node:zlib');
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export function decompress(content: Compressed): string {
  if (typeof content === 'string') return content;
  return process.getBuiltinModule('node:zlib').zstdDecompressSync(content).toString();
}

const checkpointOf = ({ content, ...info }: Row): Checkpoint => ({
  ...fieldsOf<CheckpointInfo>(info),
  content: decompress(content as Compressed),
});
