/** All ledgers of the engine together: loaded at the start, written behind while it runs, written out at the end. */
import type { DatabaseSync } from 'node:sqlite';
import type { CounterTable } from './counter-table.ts';
import type { Writer } from './writer.ts';

const flushEveryMs = 1000;

export interface Counters {
  dropExpired(now: number): void;
  close(): Promise<void>;
}

export function keepCounters(db: DatabaseSync, writer: Writer, ledgers: CounterTable<never>[], now: number): Counters {
  load(db, ledgers, now);

  async function flush(): Promise<void> {
    const rows = ledgers.flatMap((ledger) => ledger.takeDirty());
    if (rows.length === 0) return;
    try {
      await writer.run('saveCounters', rows);
    } catch (error) {
      for (const { kind, key } of rows) ledgers.find((ledger) => ledger.kind === kind)?.changed(key);
      throw error;
    }
  }

  // What a flush could not write stays marked, and the next one tries again.
  const timer = setInterval(() => void flush().catch(() => undefined), flushEveryMs);
  timer.unref();

  return {
    dropExpired(now) {
      for (const ledger of ledgers) ledger.dropExpired(now);
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

function load(db: DatabaseSync, ledgers: CounterTable<never>[], now: number): void {
  const byKind = new Map(ledgers.map((ledger) => [ledger.kind, ledger]));
  const rows = db.prepare('SELECT kind, key, state FROM counters WHERE expires_at > ? ORDER BY expires_at').all(now);
  for (const { kind, key, state } of rows) {
    byKind.get(String(kind))?.load(String(key), JSON.parse(String(state)) as never);
  }
}
