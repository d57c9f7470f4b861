/** Makes the database of a running server fail for real. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Takes tables away from under the server. */
export function loseTables(folder: string, ...tables: string[]): void {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { timeout: 5000 });
  for (const table of tables) db.exec(`ALTER TABLE ${table} RENAME TO lost_${table}`);
  db.close();
}
