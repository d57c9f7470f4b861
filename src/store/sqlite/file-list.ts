/** The files of a room. */
import type { FileStore, StoredFile } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { roomIdOf } from './room-id.ts';
import type { RoomReader } from './room-reader.ts';
import { fileColumns, fileOf, isListed } from './rows.ts';
import type { Sql } from './statements.ts';
import type { SqliteStorage } from './storage.ts';
import type { Writer } from './writer.ts';

export function createFileStore(rooms: RoomReader, writer: Writer, storage: SqliteStorage): FileStore {
  const { sql, cache, find, missingReason, orReason, changing, endForGood } = rooms;
  return {
    async addFile(code, file, quota, record) {
      const added = await changing(code, writer.run('addFile', code, file, quota, record));
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

    async removeFile(code, fileId, now) {
      return orReason(code, now, await changing(code, writer.run('removeFile', code, fileId, now)));
    },

    async restoreFile(code, fileId, now) {
      return orReason(code, now, await changing(code, writer.run('restoreFile', code, fileId, now)));
    },

    async claimFile(code, fileId, claim, now) {
      return orReason(code, now, await writer.run('claimFile', code, fileId, claim, now));
    },

    async findClaim(fileId, now) {
      const row = sql(`
        SELECT claim, claim_ends_at FROM files JOIN rooms ON rooms.id = room
        WHERE files.id = ?1 AND ${isListed} AND expires_at > ?2 AND claim_ends_at > ?2
      `).get(fileId, now);
      return row && { hash: row.claim as string, expiresAt: row.claim_ends_at as number };
    },

    async receiveFile(code, claimHash, now) {
      return orReason(code, now, await changing(code, writer.run('receiveFile', code, claimHash, now)));
    },

    async releaseClaim(code, claimHash, now) {
      return orReason(code, now, await writer.run('releaseClaim', code, claimHash, now));
    },

    async eraseRemoved(moment, limit) {
      const codes = await writer.run('eraseRemoved', moment, limit);
      for (const code of codes) cache.drop(code);
      return codes.length;
    },

    async eraseRemovedIn(code) {
      return (await changing(code, writer.run('eraseRemovedIn', code))).length;
    },
  };
}

export function filesOf(sql: Sql, code: RoomCode, now: number): StoredFile[] {
  const rows = sql(`
    SELECT ${fileColumns} FROM files JOIN rooms ON rooms.id = room
    WHERE room = ? AND expires_at > ? AND ${isListed} ORDER BY uploaded_at, files.rowid
  `).all(roomIdOf(code), now);
  return rows.map(fileOf);
}
