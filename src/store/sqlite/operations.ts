/** All changes of the database, as functions that run in the writer's transaction. */
import type { DatabaseSync } from 'node:sqlite';
import type {
  ActivityLimits,
  ActivityReport,
  AddressBlock,
  ApiKey,
  BlobProgress,
  CurrentText,
  FileClaim,
  FileQuota,
  KeyRecord,
  Repeated,
  RequestRecord,
  RoomDraft,
  RoomRecord,
  RoomUpdate,
  StoredFile,
  TextCompaction,
  Tier,
  UnfinishedFile,
} from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { addReport, putBlock, removeBlock } from './admin-operations.ts';
import * as claims from './claim-operations.ts';
import * as files from './file-operations.ts';
import { findRequest, forgetRequests, rememberRequest } from './idempotency-operations.ts';
import { restoreKey, restoreRoom } from './restore.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import { type UpdatedRoom, updateRoom } from './room-update.ts';
import { keyOf } from './rows.ts';
import { prepareOnce, type Sql } from './statements.ts';
import { type AppendReply, type AppendWrite, appendText, clearHistory, compactText } from './text-operations.ts';
import * as uploads from './upload-operations.ts';

export interface CounterRow {
  kind: string;
  key: string;
  /** JSON; null deletes the counter. */
  state: string | null;
  expiresAt: number;
}

/** Overwriting long texts takes time, and other writes have to wait. */
const longestSweepMs = 20;

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(db: DatabaseSync) {
  const sql = prepareOnce(db);
  const has = (query: string, ...values: (string | RoomId)[]) => sql(query).get(...values) !== undefined;

  return {
    createRoom(draft: RoomDraft, record?: RequestRecord): RoomCode | undefined | Repeated {
      const repeated = record && findRequest(sql, record, draft.createdAt);
      if (repeated) return { repeated };
      const length = lengthFor(draft.codeLengths, liveRooms(sql, draft.createdAt) + 1);
      const code = draft.draw.slice(0, length) as RoomCode;
      const id = roomIdOf(code);
      if (has('SELECT 1 FROM rooms WHERE id = ? UNION ALL SELECT 1 FROM expired_rooms WHERE id = ?', id, id)) {
        return undefined;
      }
      sql(`
        INSERT INTO rooms (id, code, created_at, expires_at, pin_mac, written_at, keeps_history, client, network,
          text_charge, name, salt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      `).get(
        id,
        code,
        draft.createdAt,
        draft.expiresAt,
        draft.pinMac ?? null,
        draft.createdAt,
        draft.keepsHistory ? 1 : 0,
        draft.owner?.client ?? null,
        draft.owner?.network ?? null,
        draft.countsText ? 0 : null,
        draft.name ?? null,
        draft.salt ?? null,
      );
      if (record) rememberRequest(sql, { ...record, codeLength: code.length });
      return code;
    },

    deleteRoom(code: RoomCode, now: number): { seq: number } | 'gone' {
      const ended = sql('DELETE FROM rooms WHERE id = ? AND expires_at > ? RETURNING seq').get(roomIdOf(code), now);
      return ended ? { seq: Number(ended.seq) + 1 } : gone(code, now);
    },

    notePinAttempt(code: RoomCode, now: number): { seq: number } | undefined {
      const noted = sql(`
        UPDATE rooms SET pin_attempts = pin_attempts + 1, seq = seq + 1 WHERE id = ? AND expires_at > ? RETURNING seq
      `).get(roomIdOf(code), now);
      return noted && { seq: Number(noted.seq) };
    },

    updateRoom: (code: RoomCode, update: RoomUpdate, now: number): UpdatedRoom | 'pin-changed' | 'gone' =>
      updateRoom(sql, code, update, now) ?? gone(code, now),

    appendText: (code: RoomCode, ...append: AppendWrite): AppendReply | 'gone' =>
      appendText(sql, code, append) ?? gone(code, append[5]),

    compactText: (code: RoomCode, compaction: TextCompaction, now: number): 'compacted' | 'stale' | 'gone' =>
      compactText(sql, code, compaction, now) ?? gone(code, now),

    clearHistory: (code: RoomCode, current: CurrentText, now: number): 'cleared' | 'stale' | 'gone' =>
      clearHistory(sql, code, current, now) ?? gone(code, now),

    addFile: (code: RoomCode, file: StoredFile, quota: FileQuota, record?: RequestRecord) =>
      files.addFile(sql, code, file, quota, record) ?? gone(code, file.uploadedAt),
    removeFile: (code: RoomCode, fileId: string, now: number) =>
      files.removeFile(sql, code, fileId, now) ?? gone(code, now),
    restoreFile: (code: RoomCode, fileId: string, now: number) =>
      files.restoreFile(sql, code, fileId, now) ?? gone(code, now),
    claimFile: (code: RoomCode, fileId: string, claim: FileClaim, now: number) =>
      claims.claimFile(sql, code, fileId, claim, now) ?? gone(code, now),
    receiveFile: (code: RoomCode, claimHash: string, now: number) =>
      claims.receiveFile(sql, code, claimHash, now) ?? gone(code, now),
    releaseClaim: (code: RoomCode, claimHash: string, now: number) =>
      claims.releaseClaim(sql, code, claimHash, now) ?? gone(code, now),
    eraseRemoved: (moment: number, limit: number) => files.eraseRemoved(sql, moment, limit),
    eraseRemovedIn: (code: RoomCode) => files.eraseRemovedIn(sql, code),

    startUpload: (code: RoomCode, file: UnfinishedFile, quota: FileQuota) =>
      uploads.startUpload(sql, code, file, quota) ?? gone(code, file.uploadedAt),
    advanceUpload: (code: RoomCode, fileId: string, from: number, progress: BlobProgress, now: number) =>
      uploads.advanceUpload(sql, code, fileId, from, progress, now) ?? gone(code, now),
    finishUpload: (code: RoomCode, fileId: string, now: number) =>
      uploads.finishUpload(sql, code, fileId, now) ?? gone(code, now),
    cancelUpload: (code: RoomCode, fileId: string, now: number) =>
      uploads.cancelUpload(sql, code, fileId, now) ?? gone(code, now),
    expireUploads: (now: number, limit: number) => uploads.expireUploads(sql, now, limit),

    expireRooms(now: number, limit: number, rememberMs: number): { codes: RoomCode[]; isDone: boolean } {
      const due = sql('SELECT code FROM rooms WHERE expires_at <= ? ORDER BY expires_at LIMIT ?').all(now, limit);
      const codes = due.map(({ code }) => code as RoomCode);
      const ended = expireWithin(longestSweepMs, codes, now);
      sql('DELETE FROM expired_rooms WHERE expired_at <= ?').get(now - rememberMs);
      sql('DELETE FROM counters WHERE expires_at <= ?').get(now);
      forgetRequests(sql, now);
      return { codes: codes.slice(0, ended), isDone: ended === codes.length };
    },

    expireRoom,

    clearTrash(blobs: readonly string[]): void {
      for (const blob of blobs) sql('DELETE FROM trash WHERE blob = ?').get(blob);
    },

    saveCounters(rows: readonly CounterRow[]): void {
      for (const { kind, key, state, expiresAt } of rows) {
        if (state === null) sql('DELETE FROM counters WHERE kind = ? AND key = ?').get(kind, key);
        else sql('INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?)').get(kind, key, state, expiresAt);
      }
    },

    keepSecretRecord(fingerprint: string): void {
      sql('INSERT OR IGNORE INTO secret_record VALUES (1, ?)').get(fingerprint);
    },

    replaceSecretRecord(fingerprint: string): void {
      sql('INSERT OR REPLACE INTO secret_record VALUES (1, ?)').get(fingerprint);
    },

    createKey(key: { id: string; name: string; tier: Tier; hash: string }, now: number): ApiKey | undefined {
      if (has('SELECT 1 FROM api_keys WHERE name = ? AND revoked_at IS NULL', key.name)) return undefined;
      const made = sql(
        'INSERT INTO api_keys (id, hash, name, tier, created_at) VALUES (?, ?, ?, ?, ?) RETURNING *',
      ).get(key.id, key.hash, key.name, key.tier, now);
      return made && keyOf(made);
    },

    revokeKey(idOrName: string, now: number): ApiKey | undefined {
      const revoked = sql(`
        UPDATE api_keys SET revoked_at = ?1 WHERE id = (
          SELECT id FROM api_keys WHERE (id = ?2 OR name = ?2) AND revoked_at IS NULL ORDER BY id = ?2 DESC LIMIT 1
        ) RETURNING *
      `).get(now, idOrName);
      return revoked && keyOf(revoked);
    },

    chargeText(code: RoomCode, bytes: number): void {
      sql('UPDATE rooms SET text_charge = ? WHERE id = ? AND text_charge IS NOT NULL').get(bytes, roomIdOf(code));
    },

    answerRequest(id: number, answer: string): void {
      sql('UPDATE operator_requests SET answer = ? WHERE id = ?').get(answer, id);
    },

    putBlock: (block: AddressBlock, maximum: number) => putBlock(sql, block, maximum),
    removeBlock: (id: string) => removeBlock(sql, id),
    addReport: (report: ActivityReport, limits: ActivityLimits, now: number) => addReport(sql, report, limits, now),

    restoreRoom: (record: RoomRecord) => restoreRoom(sql, record),
    restoreKey: (key: KeyRecord) => restoreKey(sql, key),
  };

  /** Ends an expired room, so that it stays ended if the clock is set back. The caller looks up the reason. */
  function gone(code: RoomCode, now: number): 'gone' {
    expireRoom(code, now);
    return 'gone';
  }

  /** Ends at least one of the rooms, and returns how many. */
  function expireWithin(ms: number, codes: readonly RoomCode[], now: number): number {
    const deadline = performance.now() + ms;
    let ended = 0;
    for (const code of codes) {
      expireRoom(code, now);
      ended += 1;
      if (performance.now() > deadline) break;
    }
    return ended;
  }

  /** Ends a room if it has expired, and records that. */
  function expireRoom(code: RoomCode, now: number): void {
    const id = roomIdOf(code);
    const ended = sql('DELETE FROM rooms WHERE id = ? AND expires_at <= ? RETURNING expires_at').get(id, now);
    if (ended) sql('INSERT OR REPLACE INTO expired_rooms VALUES (?, ?)').get(id, ended.expires_at as number);
  }
}

/** Subtracts expired rooms from the total, because counting all others would be slow. */
export function liveRooms(sql: Sql, now: number): number {
  const count = sql('SELECT total - (SELECT count(*) FROM rooms WHERE expires_at <= ?) AS live FROM room_count');
  return Number(count.get(now)?.live);
}

function lengthFor(lengths: RoomDraft['codeLengths'], rooms: number): number | undefined {
  return lengths.find(({ upTo }) => rooms <= upTo)?.length;
}
