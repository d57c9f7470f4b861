/** Changes the expiry, the PIN and the name of a room. Part of the writer's operations. */
import type { Room, RoomUpdate } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import { roomColumns, roomOf } from './rows.ts';
import type { Sql } from './statements.ts';

export interface UpdatedRoom {
  seq: number;
  room: Room;
}

/** Undefined if there is no such room. */
export function updateRoom(
  sql: Sql,
  code: RoomCode,
  update: RoomUpdate,
  now: number,
): UpdatedRoom | 'pin-changed' | undefined {
  const id = roomIdOf(code);
  const found = sql('SELECT pin_mac IS ? AS isSame FROM rooms WHERE id = ? AND expires_at > ?').get(
    update.admittedBy ?? null,
    id,
    now,
  );
  if (!found) return undefined;
  if (found.isSame !== 1) return 'pin-changed';
  if (update.expiresAt !== undefined) moveExpiry(sql, id, code, update.expiresAt, update.uploadLifetimeMs);
  if (update.pinMac !== undefined) setPin(sql, id, code, update.pinMac);
  if (update.name !== undefined) sql('UPDATE rooms SET name = ? WHERE id = ?').get(update.name, id);
  const row = sql(`UPDATE rooms SET seq = seq + 1 WHERE id = ? RETURNING seq, ${roomColumns}`).get(id);
  return row && { seq: Number(row.seq), room: roomOf(row) };
}

/** The counters of wrong PINs end with the room. They are also in memory, but a crash would lose that. */
function moveExpiry(sql: Sql, id: RoomId, code: RoomCode, expiresAt: number, uploadLifetimeMs: number): void {
  sql('UPDATE rooms SET expires_at = ? WHERE id = ?').get(expiresAt, id);
  sql('UPDATE files SET ends_at = min(?, uploaded_at + ?) WHERE room = ? AND ends_at IS NOT NULL').get(
    expiresAt,
    uploadLifetimeMs,
    id,
  );
  sql(`
    UPDATE counters SET expires_at = ?1, state = json_set(state, '$.roomExpiresAt', ?1) WHERE kind = 'pin' AND key = ?2
  `).get(expiresAt, code);
}

function setPin(sql: Sql, id: RoomId, code: RoomCode, pinMac: Uint8Array | null): void {
  sql('UPDATE rooms SET pin_mac = ?, pin_attempts = 0 WHERE id = ?').get(pinMac, id);
  sql("DELETE FROM counters WHERE kind = 'pin' AND key = ?").get(code);
}
