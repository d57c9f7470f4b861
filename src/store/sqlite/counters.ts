/**
 * Counters in memory with write-behind, so that reading a room does not write to the disk: loaded at the start, written
 * periodically, and written completely at the end. A crash loses at most the last second.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { ClientId } from '../../core/ports/basics.ts';
import type { Allowance, Quota, RateCounter } from '../../core/ports/clients.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import { CounterBudget } from '../client-counters.ts';
import type { Sql } from './database.ts';
import type { Writer } from './writer.ts';

const flushEveryMs = 1000;

interface Counters {
  dropExpired(now: number): void;
  close(): Promise<void>;
}

export function keepCounters(db: DatabaseSync, writer: Writer, tables: CounterTable<never>[], now: number): Counters {
  load(db, tables, now);

  async function flush(): Promise<void> {
    const rows = tables.flatMap((table) => table.takeDirty());
    if (rows.length === 0) return;
    try {
      await writer.run(saveCounters, rows);
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

export function saveCounters(sql: Sql, rows: readonly CounterRow[]): void {
  for (const { kind, key, state, expiresAt } of rows) {
    if (state === null) sql('DELETE FROM counters WHERE kind = ? AND key = ?').get(kind, key);
    else sql('INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?)').get(kind, key, state, expiresAt);
  }
}

interface CounterRow {
  kind: string;
  key: string;
  /** JSON; null deletes the counter. */
  state: string | null;
  expiresAt: number;
}

const maxChecks = 16;

export class CounterTable<State> {
  readonly kind: string;
  /** Oldest first, the order in which they are dropped. */
  readonly #states = new Map<string, State>();
  readonly #dirty = new Set<string>();
  readonly #expiresAt: (state: State) => number;

  constructor(kind: string, expiresAt: (state: State) => number) {
    this.kind = kind;
    this.#expiresAt = expiresAt;
  }

  get size(): number {
    return this.#states.size;
  }

  get(key: string, now: number): State | undefined {
    const state = this.#states.get(key);
    return state !== undefined && this.#expiresAt(state) > now ? state : undefined;
  }

  /** Starts or restarts a counter. */
  start(key: string, state: State): State {
    this.#states.delete(key);
    this.#states.set(key, state);
    this.#dirty.add(key);
    return state;
  }

  /** Call this after changing a state in place. */
  changed(key: string): void {
    this.#dirty.add(key);
  }

  forget(key: string): void {
    if (this.#states.delete(key)) this.#dirty.add(key);
  }

  /**
   * Drops the oldest counter that may be dropped, and returns whether there was one. It checks only a few, and moves
   * those that must stay to the end, so that the next call checks others.
   */
  dropOldest(mayDrop: (state: State) => boolean): boolean {
    let checks = 0;
    for (const [key, state] of this.#states) {
      if (mayDrop(state)) {
        this.forget(key);
        return true;
      }
      if (checks === maxChecks) break;
      checks += 1;
      this.#states.delete(key);
      this.#states.set(key, state);
    }
    return false;
  }

  load(key: string, state: State): void {
    this.#states.set(key, state);
  }

  /** The changes since the last call, for the disk. */
  takeDirty(): CounterRow[] {
    const rows: CounterRow[] = [];
    for (const key of this.#dirty) {
      const state = this.#states.get(key);
      if (state === undefined) rows.push({ kind: this.kind, key, state: null, expiresAt: 0 });
      else rows.push({ kind: this.kind, key, state: JSON.stringify(state), expiresAt: this.#expiresAt(state) });
    }
    this.#dirty.clear();
    return rows;
  }

  /** From memory only. The sweep removes them from disk by the same rule. */
  dropExpired(now: number): void {
    for (const [key, state] of this.#states) {
      if (this.#expiresAt(state) <= now) this.#states.delete(key);
    }
  }
}

interface Spending {
  used: number;
  resetAt: number;
}

/** Requests per client and window. Synchronous, so that a burst is granted exactly the limit. */
export function createRateCounter(rules: GuardRules): RateCounter & { table: CounterTable<Spending> } {
  const table = new CounterTable<Spending>('rate', ({ resetAt }) => resetAt);
  const budget = new CounterBudget(rules);

  /** After the clock was set back, no client waits longer than a full window. */
  function current(key: string, { windowMs }: Quota, now: number): Spending | undefined {
    const spending = table.get(key, now);
    if (!spending || spending.resetAt <= now + windowMs) return spending;
    spending.resetAt = now + windowMs;
    table.changed(key);
    return spending;
  }

  function start(key: string, client: ClientId, { windowMs }: Quota, now: number): Spending {
    budget.noteStart(key, client);
    return table.start(key, { used: 0, resetAt: now + windowMs });
  }

  function take(spending: Spending, key: string, quota: Quota): Allowance {
    const granted = spending.used < quota.limit;
    if (granted) {
      spending.used += 1;
      table.changed(key);
    }
    return allowance(spending, quota, granted);
  }

  return {
    table,
    countsWithAccess: false,
    take(client: ClientId, quota: Quota, now: number) {
      const own = current(client, quota, now);
      if (own) return take(own, client, quota);
      const key = budget.keyFor(client, now);
      return take(current(key, quota, now) ?? start(key, client, quota, now), key, quota);
    },
    peek(client: ClientId, quota: Quota, now: number) {
      const own = current(client, quota, now);
      const spending = own ?? (budget.isShared ? current(budget.keyFor(client, now), quota, now) : undefined);
      return allowance(spending ?? { used: 0, resetAt: now + quota.windowMs }, quota, true);
    },
  };
}

function allowance({ used, resetAt }: Spending, quota: Quota, granted: boolean): Allowance {
  return { granted, remaining: Math.max(0, quota.limit - used), resetAt };
}
