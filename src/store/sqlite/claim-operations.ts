/** Claims of one-time files. Part of the writer's operations. The result is undefined if there is no such room. */
import { timingSafeEqual } from 'node:crypto';
import type { FileClaim, StoredFile } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { dropFiles, liveRoom, nextSeq } from './file-operations.ts';
import type { RoomId } from './room-id.ts';
import { fileColumns, fileOf, isListed } from './rows.ts';
import type { Sql } from './statements.ts';

export function claimFile(
  sql: Sql,
  code: RoomCode,
  fileId: string,
  { hash, expiresAt }: FileClaim,
  now: number,
): { claimed: StoredFile } | { claimedUntil: number } | 'not-once' | 'no-file' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
  const query = `SELECT ${fileColumns}, claim_ends_at FROM files WHERE id = ? AND room = ? AND ${isListed}`;
  const row = sql(query).get(fileId, room);
  if (!row) return 'no-file';
  const file = fileOf(row);
  if (!file.once) return 'not-once';
  const claimedUntil = Number(row.claim_ends_at);
  if (claimedUntil > now) return { claimedUntil };
  sql('UPDATE files SET claim = ?, claim_ends_at = ? WHERE id = ?').get(hash, expiresAt, fileId);
  return { claimed: file };
}

export function receiveFile(
  sql: Sql,
  code: RoomCode,
  claimHash: string,
  now: number,
): { seq: number; fileId: string } | 'no-claim' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
  const fileId = claimedFile(sql, room, claimHash);
  if (fileId === undefined) return 'no-claim';
  dropFiles(sql, 'id = ?', fileId);
  return { ...nextSeq(sql, room), fileId };
}

export function releaseClaim(
  sql: Sql,
  code: RoomCode,
  claimHash: string,
  now: number,
): 'released' | 'no-claim' | undefined {
  const room = liveRoom(sql, code, now);
  if (room === undefined) return undefined;
  const fileId = claimedFile(sql, room, claimHash);
  if (fileId === undefined) return 'no-claim';
  sql('UPDATE files SET claim = NULL, claim_ends_at = NULL WHERE id = ?').get(fileId);
  return 'released';
}

/** Compares with every claim of the room, so that the time reveals nothing about their hashes. */
function claimedFile(sql: Sql, room: RoomId, claimHash: string): string | undefined {
  const wanted = Buffer.from(claimHash);
  let found: string | undefined;
  for (const { id, claim } of sql('SELECT id, claim FROM files WHERE room = ? AND claim IS NOT NULL').all(room)) {
    const stored = Buffer.from(claim as string);
    if (stored.length === wanted.length && timingSafeEqual(stored, wanted)) found = id as string;
  }
  return found;
}
