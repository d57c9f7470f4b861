/**
 * The files of rooms, claims of one-time files, unfinished files, and the trash. Changes return `gone` if there is no
 * such room.
 */
import type { RequestRecord } from '../../core/ports/basics.ts';
import {
  type BlobProgress,
  blobOf,
  type FileClaim,
  type FileQuota,
  type FileStore,
  type StoredFile,
  type TrashStore,
  type UnfinishedFile,
  type UploadStore,
} from '../../core/ports/files.ts';
import type { LinkId, RoomCode } from '../../core/room-code.ts';
import { inLiveRoom, ownerOf, type RoomId, type RoomReader, roomIdOf } from './cache.ts';
import type { SqliteStorage } from './clients.ts';
import { insert, isEqual, type Row, type Sql } from './database.ts';
import { findRequest, rememberRequest } from './idempotency.ts';
import type { Writer } from './writer.ts';

export function createFileStore(rooms: RoomReader, writer: Writer, storage: SqliteStorage): FileStore {
  const { sql, find, missingReason, orReason, changing, changingAll, change, endForGood } = rooms;
  return {
    async addFile(code, file, quota, record) {
      const added = await changing(code, writer.run(addFile, code, file, quota, record));
      storage.onFileAdded(file.blob);
      return orReason(code, file.uploadedAt, added);
    },

    async listFiles(code, now) {
      const found = find(code);
      if (found && found.room.expiresAt > now) return filesOf(sql, code, now);
      await endForGood(code, now);
      return missingReason(code, now);
    },

    async findFile(fileId, now) {
      const row = sql(`
        SELECT ${fileColumns}, code, expires_at FROM files JOIN rooms ON rooms.id = room
        WHERE files.id = ? AND ${isListed}
      `).get(fileId);
      if (!row || (row.expires_at as number) > now) return row && fileOf(row);
      await endForGood(row.code as RoomCode, now);
      return undefined;
    },

    removeFile: (code, fileId, now) => change(removeFile, code, now, fileId),
    restoreFile: (code, fileId, now) => change(restoreFile, code, now, fileId),
    claimFile: (code, fileId, claim, now) => change(claimFile, code, now, fileId, claim),
    receiveFile: (code, claimHash, now) => change(receiveFile, code, now, claimHash),
    releaseClaim: (code, claimHash, now) => change(releaseClaim, code, now, claimHash),

    async findClaim(fileId, now) {
      const row = sql(`
        SELECT claim, claim_ends_at FROM files JOIN rooms ON rooms.id = room
        WHERE files.id = ?1 AND ${isListed} AND expires_at > ?2 AND claim_ends_at > ?2
      `).get(fileId, now);
      return row && { hash: row.claim as string, expiresAt: row.claim_ends_at as number };
    },

    eraseRemoved: (moment, limit) => changingAll(writer.run(eraseRemoved, moment, limit)),
    eraseRemovedIn: async (code) => (await changing(code, writer.run(eraseRemovedIn, code))).length,
  };
}

export function filesOf(sql: Sql, code: RoomCode, now: number): StoredFile[] {
  const rows = sql(`
    SELECT ${fileColumns} FROM files JOIN rooms ON rooms.id = room
    WHERE room = ? AND expires_at > ? AND ${isListed} ORDER BY uploaded_at, files.rowid
  `).all(roomIdOf(code), now);
  return rows.map(fileOf);
}

export function addFile(sql: Sql, code: RoomCode, file: StoredFile, quota: FileQuota, record?: RequestRecord) {
  const repeated = record && findRequest(sql, record, file.uploadedAt);
  if (repeated) return { repeated };
  const placed = placeFile(sql, code, file.uploadedAt, file, quota);
  if (typeof placed === 'string') return placed;
  if (record) rememberRequest(sql, record);
  return nextSeq(sql, placed.room);
}

const placeFile = inLiveRoom((sql, room, now, file: StoredFile, quota: FileQuota) => {
  if (!mayAdd(sql, room, file.link, now)) return 'no-link';
  if (!countFile(sql, room, file.size, quota)) return 'full';
  insertFile(sql, room, file);
  return { room };
});

export const removeFile = inLiveRoom((sql, room, now, fileId: string) => {
  const query = `UPDATE files SET removed_at = ? WHERE id = ? AND room = ? AND ${isListed} RETURNING 1`;
  return sql(query).get(now, fileId, room) ? nextSeq(sql, room) : 'no-file';
});

export const restoreFile = inLiveRoom((sql, room, _now, fileId: string) => {
  const query = 'UPDATE files SET removed_at = NULL WHERE id = ? AND room = ? AND removed_at IS NOT NULL RETURNING 1';
  return sql(query).get(fileId, room) ? nextSeq(sql, room) : 'no-file';
});

/** Conditions of `dropFiles`: the files that a sweep drops. */
const removedBefore = 'rowid IN (SELECT rowid FROM files WHERE removed_at < ? ORDER BY removed_at LIMIT ?)';
const unfinishedUntil = 'rowid IN (SELECT rowid FROM files WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)';

export const eraseRemoved = (sql: Sql, moment: number, limit: number): RoomCode[] =>
  dropFiles(sql, removedBefore, moment, limit);

export const eraseRemovedIn = (sql: Sql, code: RoomCode): RoomCode[] =>
  dropFiles(sql, 'room = ? AND removed_at IS NOT NULL', roomIdOf(code));

/** Triggers add the size to the usage of the owner. */
export function insertFile(sql: Sql, room: RoomId, file: StoredFile): void {
  const { id, blob, name, type, size, uploadedAt, owner, folder, deviceId, once, meta, link } = file;
  const uploaded = { uploaded_at: uploadedAt, client: owner?.client, network: owner?.network, device: deviceId };
  insert(sql, 'files', { id, room, blob, name, type, size, folder, once: once ? 1 : 0, meta, link, ...uploaded });
}

/** Whether a file may be added: it was uploaded by a member, or with a link that is still valid. */
const mayAdd = (sql: Sql, room: RoomId, link: LinkId | undefined, now: number): boolean =>
  link === undefined ||
  sql('SELECT 1 FROM links WHERE id = ?1 AND room = ?2 AND ifnull(expires_at, ?3 + 1) > ?3').get(link, room, now) !==
    undefined;

/** Adds a file to the counts of its room. False if that would exceed the quota. */
function countFile(sql: Sql, room: RoomId, size: number, quota: FileQuota): boolean {
  const counted = sql(`
    UPDATE rooms SET file_count = file_count + 1, file_bytes = file_bytes + ?
    WHERE id = ? AND file_count < ? AND file_bytes + ? <= ? RETURNING 1
  `).get(size, room, quota.files, size, quota.bytes);
  return counted !== undefined;
}

/**
 * Deletes files, and subtracts them from the counts of their rooms. Triggers update the usage and the trash. Returns
 * the room of each.
 */
export function dropFiles(sql: Sql, condition: string, ...values: (string | RoomId)[]): RoomCode[] {
  const dropped = sql(`
    DELETE FROM files WHERE ${condition} RETURNING size, (SELECT code FROM rooms WHERE rooms.id = room) AS code
  `).all(...values) as { size: number; code: RoomCode }[];
  const discount = sql('UPDATE rooms SET file_count = file_count - 1, file_bytes = file_bytes - ? WHERE id = ?');
  for (const { size, code } of dropped) discount.get(size, roomIdOf(code));
  return dropped.map(({ code }) => code);
}

const nextSeq = (sql: Sql, room: RoomId) => ({
  seq: Number(sql('UPDATE rooms SET seq = seq + 1 WHERE id = ? RETURNING seq').get(room)?.seq),
});

export const claimFile = inLiveRoom((sql, room, now, fileId: string, { hash, expiresAt }: FileClaim) => {
  const query = `SELECT ${fileColumns}, claim_ends_at FROM files WHERE id = ? AND room = ? AND ${isListed}`;
  const row = sql(query).get(fileId, room);
  if (!row) return 'no-file';
  const file = fileOf(row);
  if (!file.once) return 'not-once';
  const claimedUntil = Number(row.claim_ends_at);
  if (claimedUntil > now) return { claimedUntil };
  sql('UPDATE files SET claim = ?, claim_ends_at = ? WHERE id = ?').get(hash, expiresAt, fileId);
  return { claimed: file };
});

export const receiveFile = inLiveRoom((sql, room, _now, claimHash: string) => {
  const fileId = claimedFile(sql, room, claimHash);
  if (fileId === undefined) return 'no-claim';
  dropFiles(sql, 'id = ?', fileId);
  return { ...nextSeq(sql, room), fileId };
});

export const releaseClaim = inLiveRoom((sql, room, _now, claimHash: string) => {
  const fileId = claimedFile(sql, room, claimHash);
  if (fileId === undefined) return 'no-claim';
  sql('UPDATE files SET claim = NULL, claim_ends_at = NULL WHERE id = ?').get(fileId);
  return 'released';
});

/** Compares with every claim of the room, so that the time reveals nothing about their hashes. */
function claimedFile(sql: Sql, room: RoomId, claimHash: string): string | undefined {
  const wanted = Buffer.from(claimHash);
  let found: string | undefined;
  for (const { id, claim } of sql('SELECT id, claim FROM files WHERE room = ? AND claim IS NOT NULL').all(room)) {
    const stored = Buffer.from(claim as string);
    if (stored.length === wanted.length && isEqual(stored, wanted)) found = id as string;
  }
  return found;
}

export function createTrashStore(sql: Sql, writer: Writer): TrashStore {
  return {
    async listTrash(limit) {
      const rows = sql('SELECT blob FROM trash LIMIT ?').all(limit);
      return rows.map(({ blob }) => String(blob));
    },

    clearTrash: (blobs) => writer.run(clearTrash, blobs),

    async knownBlobs(names) {
      const known = sql(`
        SELECT 1 FROM files WHERE blob = ?2 AND (?1 = ?2 OR received IS NOT NULL)
        UNION ALL SELECT 1 FROM trash WHERE blob = ?1
      `);
      return new Set(names.filter((name) => known.get(name, blobOf(name))));
    },
  };
}

export function clearTrash(sql: Sql, blobs: readonly string[]): void {
  for (const blob of blobs) sql('DELETE FROM trash WHERE blob = ?').get(blob);
}

const fileColumns =
  'files.id, blob, files.name, type, size, uploaded_at, files.client, files.network, folder, device, once, meta, link';
const uploadColumns = `${fileColumns}, received, blob_state, ends_at`;
const isUnfinished = 'id = ? AND room = ? AND ends_at > ?';
/** A condition for files that are neither removed nor unfinished. */
const isListed = 'removed_at IS NULL AND received IS NULL';

function fileOf(row: Row): StoredFile {
  return {
    id: row.id as string,
    blob: row.blob as string,
    name: row.name as string,
    type: row.type as string,
    size: row.size as number,
    uploadedAt: row.uploaded_at as number,
    owner: ownerOf(row),
    folder: row.folder as string,
    deviceId: (row.device as string | null) ?? undefined,
    once: row.once === 1,
    ...(row.meta !== null && { meta: row.meta as string }),
    ...(row.link !== null && { link: row.link as LinkId }),
  };
}

/** A row of `uploadColumns`. */
const unfinishedFileOf = (row: Row): UnfinishedFile => ({
  ...fileOf(row),
  received: row.received as number,
  state: row.blob_state as string,
  expiresAt: row.ends_at as number,
});

export function createUploadStore(rooms: RoomReader, writer: Writer, storage: SqliteStorage): UploadStore {
  const { sql, readLive, changingAll, change } = rooms;
  return {
    async startUpload(code, file, quota) {
      const started = await change(startUpload, code, file.uploadedAt, file, quota);
      storage.onFileAdded(file.blob);
      return started;
    },

    findUpload: (code, fileId, now) =>
      readLive(code, now, (room) => {
        const row = sql(`SELECT ${uploadColumns} FROM files WHERE ${isUnfinished}`).get(fileId, room, now);
        return row ? unfinishedFileOf(row) : 'no-file';
      }),

    advanceUpload: (code, fileId, from, progress, now) => change(advanceUpload, code, now, fileId, from, progress),
    finishUpload: (code, fileId, now) => change(finishUpload, code, now, fileId),
    cancelUpload: (code, fileId, now) => change(cancelUpload, code, now, fileId),

    expireUploads: (now, limit) => changingAll(writer.run(expireUploads, now, limit)),
  };
}

export function startUpload(sql: Sql, code: RoomCode, now: number, file: UnfinishedFile, quota: FileQuota) {
  const placed = placeFile(sql, code, now, file, quota);
  if (typeof placed === 'string') return placed;
  const { received, expiresAt, state, id } = file;
  sql('UPDATE files SET received = ?, ends_at = ?, blob_state = ? WHERE id = ?').get(received, expiresAt, state, id);
  return 'started';
}

export const advanceUpload = inLiveRoom((sql, room, now, fileId: string, from: number, progress: BlobProgress) => {
  const advanced = sql(`
    UPDATE files SET received = ?, blob_state = ? WHERE ${isUnfinished} AND received = ? RETURNING 1
  `).get(progress.received, progress.state, fileId, room, now, from);
  if (advanced) return 'advanced';
  return sql(`SELECT 1 FROM files WHERE ${isUnfinished}`).get(fileId, room, now) ? 'stale' : 'no-file';
});

/** The row gets the last id, because files of the same moment are listed in this order. */
export const finishUpload = inLiveRoom((sql, room, now, fileId: string) => {
  const link = sql('SELECT link FROM files WHERE id = ? AND room = ?').get(fileId, room)?.link as LinkId | null;
  if (!mayAdd(sql, room, link ?? undefined, now)) return 'no-link';
  const finished = sql(`
    UPDATE files SET rowid = (SELECT max(rowid) + 1 FROM files), uploaded_at = ?, received = NULL, ends_at = NULL,
      blob_state = NULL
    WHERE ${isUnfinished} AND received = size RETURNING 1
  `).get(now, fileId, room, now);
  return finished ? nextSeq(sql, room) : 'no-file';
});

export const cancelUpload = inLiveRoom((sql, room, now, fileId: string) =>
  dropFiles(sql, isUnfinished, fileId, room, now).length > 0 ? 'cancelled' : 'no-file',
);

export const expireUploads = (sql: Sql, now: number, limit: number): RoomCode[] =>
  dropFiles(sql, unfinishedUntil, now, limit);
