/** File rows. Part of the writer's operations. */
import type { StoredFile } from '../../core/ports.ts';
import type { RoomId } from './room-id.ts';
import type { Sql } from './statements.ts';

/** Triggers add the size to the usage of the owner. */
export function insertFile(sql: Sql, room: RoomId, file: StoredFile): void {
  sql(`
    INSERT INTO files (id, room, blob, name, type, size, uploaded_at, client, network)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  `).get(
    file.id,
    room,
    file.blob,
    file.name,
    file.type,
    file.size,
    file.uploadedAt,
    file.owner?.client ?? null,
    file.owner?.network ?? null,
  );
}
