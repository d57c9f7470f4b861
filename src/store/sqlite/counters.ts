/** All counter tables: loaded at the start, written periodically, and written completely at the end. */
import type { DatabaseSync } from 'node:sqlite';
import type { CounterTable } from './counter-table.ts';
import type { Writer } from './writer.ts';

const flushEveryMs = 1000;

export interface Counters {
  dropExpired(now: number): void;
  close(): Promise<void>;
}

export function keepCounters(db: DatabaseSync, writer: Writer, tables: CounterTable<never>[], now: number): Counters {
  load(db, tables, now);

  async function flush(): Promise<void> {
    const rows = tables.flatMap((table) => table.takeDirty());
    if (rows.length === 0) return;
    try {
      await writer.run('saveCounters', rows);
    } catch (error) {
      for (const { kind, key } of rows) tables.find((table) => table.kind === kind)?.changed(key);
      throw error;
    }
  }

  // Rows that could not be written stay marked as dirty, and the next flush tries again.
  const timer = setInterval(() => void flush().catch(() => undefined), flushEveryMs);
  timer.unref();

  return {
    dropExpired(now) {
      for (const table of tables) table.dropExpired(now);
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

function load(db: DatabaseSync, tables: CounterTable<never>[], now: number): void {
  const byKind = new Map(tables.map((table) => [table.kind, table]));
  const rows = db.prepare('SELECT kind, key, state FROM counters WHERE expires_at > ? ORDER BY expires_at').all(now);
  for (const { kind, key, state } of rows) {
    byKind.get(String(kind))?.load(String(key), JSON.parse(String(state)) as never);
  }
}
