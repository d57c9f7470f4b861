/** How many rooms stand in a database, told by itself. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export function roomsIn(folder: string): number {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true });
  const row = db.prepare('SELECT count(*) AS rooms FROM rooms').get();
  db.close();
  return Number(row?.rooms);
}
