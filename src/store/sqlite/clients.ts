/** The use of the server by each client, requests and stored bytes, the API keys, and the fingerprint of the secret. */
import type { ClientId, Owner } from '../../core/ports/basics.ts';
import type {
  Allowance,
  ApiKey,
  KeyStore,
  Quota,
  RateCounter,
  ReachedLimit,
  StorageAccounts,
} from '../../core/ports/clients.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { KeyRecord, SecretRecord } from '../../core/ports/store.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { CounterBudget } from '../client-counters.ts';
import { roomIdOf } from './cache.ts';
import { fieldsOf, insert, rowsOf, type Sql } from './database.ts';
import type { OpenedDatabase, Writer } from './writer.ts';

const flushEveryMs = 1000;

/**
 * Counters in memory with write-behind, so that reading a room does not write to the disk: loaded at the start, written
 * periodically, and written completely at the end. A crash loses at most the last second.
 */
export function keepCounters(sql: Sql, writer: Writer, tables: CounterTable<never>[], now: number) {
  load(sql, tables, now);

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
  const timer = setInterval(() => void flush().catch(() => undefined), flushEveryMs).unref();

  return {
    dropExpired(now: number): void {
      for (const table of tables) table.dropExpired(now);
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}

function load(sql: Sql, tables: CounterTable<never>[], now: number): void {
  const byKind = new Map(tables.map((table) => [table.kind, table]));
  const rows = sql('SELECT kind, key, state FROM counters WHERE expires_at > ? ORDER BY expires_at').all(now);
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
    for (const [key, state] of this.#states) if (this.#expiresAt(state) <= now) this.#states.delete(key);
  }
}

/** Counters of clients that start again after a window. A client has its own, or shares one if there are too many. */
export class WindowCounters<State extends { resetAt: number }> {
  readonly table: CounterTable<State>;
  readonly #budget: CounterBudget;

  constructor(kind: string, rules: GuardRules) {
    this.table = new CounterTable(kind, ({ resetAt }) => resetAt);
    this.#budget = new CounterBudget(rules);
  }

  find(client: ClientId, windowMs: number, now: number): State | undefined {
    const own = this.#at(client, windowMs, now);
    return own ?? (this.#budget.isShared ? this.#at(this.#budget.keyFor(client, now), windowMs, now) : undefined);
  }

  findOrStart(client: ClientId, windowMs: number, now: number, initial: Omit<State, 'resetAt'>): [State, string] {
    const own = this.#at(client, windowMs, now);
    if (own) return [own, client];
    const key = this.#budget.keyFor(client, now);
    const shared = this.#at(key, windowMs, now);
    if (shared) return [shared, key];
    this.#budget.noteStart(key, client);
    return [this.table.start(key, { ...initial, resetAt: now + windowMs } as State), key];
  }

  /** After the clock was set back, no client waits longer than a full window. */
  #at(key: string, windowMs: number, now: number): State | undefined {
    const state = this.table.get(key, now);
    if (!state || state.resetAt <= now + windowMs) return state;
    state.resetAt = now + windowMs;
    this.table.changed(key);
    return state;
  }
}

type Spending = { used: number; resetAt: number };

/** Requests per client and window. Synchronous, so that a burst is granted exactly the limit. */
export function createRateCounter(rules: GuardRules): RateCounter & { table: CounterTable<Spending> } {
  const counters = new WindowCounters<Spending>('rate', rules);
  const { table } = counters;
  return {
    table,
    countsWithAccess: false,
    take(client: ClientId, quota: Quota, now: number) {
      const [spending, key] = counters.findOrStart(client, quota.windowMs, now, { used: 0 });
      const granted = spending.used < quota.limit;
      if (granted) {
        spending.used += 1;
        table.changed(key);
      }
      return allowance(spending, quota, granted);
    },
    peek(client: ClientId, quota: Quota, now: number) {
      const spending = counters.find(client, quota.windowMs, now);
      return allowance(spending ?? { used: 0, resetAt: now + quota.windowMs }, quota, true);
    },
  };
}

const allowance = ({ used, resetAt }: Spending, quota: Quota, granted: boolean): Allowance => ({
  granted,
  remaining: Math.max(0, quota.limit - used),
  resetAt,
});

type Reservation = { owner: Owner; bytes: number; deadline: number };

/** `onFileAdded`: the file of a reservation was added, or definitely was not. */
export type SqliteStorage = StorageAccounts & { onFileAdded(blob: string): void };

const allClients = '';

/**
 * Bytes of files by owner. Database triggers count stored bytes. Reserved bytes are in memory, because one process owns
 * the database and its uploads end with it.
 */
export function createStorage(sql: Sql, writer: Writer): SqliteStorage {
  const reservations = new Map<string, Reservation>();

  const storedBy = (account: string): number =>
    Number(sql('SELECT bytes FROM usage WHERE account = ?').get(account)?.bytes ?? 0);

  function reservedBy(account: string): number {
    let sum = 0;
    for (const { owner, bytes } of reservations.values()) {
      if (account === allClients || account === owner.client || account === owner.network) sum += bytes;
    }
    return sum;
  }

  /** A file that was just added may briefly count twice, but is never missing. */
  const usedBy = (account: string) => reservedBy(account) + storedBy(account);

  function freesAt(column: 'client' | 'network', account: string): number | undefined {
    const query = `SELECT min(expires_at) AS at FROM files JOIN rooms ON rooms.id = room WHERE files.${column} = ?`;
    return (sql(query).get(account)?.at as number | null) ?? undefined;
  }

  function limitReached(scope: ReachedLimit['scope'], { client, network }: Owner, maximum: number): ReachedLimit {
    const account = scope === 'total' ? allClients : scope === 'client' ? client : (network ?? '');
    return { scope, used: usedBy(account), maximum, freesAt: scope === 'total' ? undefined : freesAt(scope, account) };
  }

  return {
    async reserve({ blob, owner, deadline, least, most }, limits) {
      const left = {
        client: limits.client - usedBy(owner.client),
        network: owner.network === undefined ? Number.POSITIVE_INFINITY : limits.network - usedBy(owner.network),
        total: limits.total - usedBy(allClients),
      };
      const scopes = ['client', 'network', 'total'] as const;
      const tightest = scopes.reduce((one, other) => (left[other] < left[one] ? other : one));
      const bytes = Math.max(0, Math.min(most, left[tightest]));
      const limit = bytes < most ? limitReached(tightest, owner, limits[tightest]) : undefined;
      if (limit && (bytes < least || bytes === 0)) return { outcome: 'refused', limit };
      reservations.set(blob, { owner, bytes, deadline });
      return { outcome: 'granted', bytes, limit };
    },

    /** Reserves the growth until it is written. */
    async chargeText({ code, owner, bytes }, limits) {
      const row = sql('SELECT text_charge FROM rooms WHERE id = ?').get(roomIdOf(code));
      const growth = Math.max(0, bytes - Number(row?.text_charge ?? 0));
      for (const scope of ['client', 'network'] as const) {
        const account = owner[scope];
        if (growth === 0 || account === undefined || usedBy(account) + growth <= limits[scope]) continue;
        return limitReached(scope, owner, limits[scope]);
      }
      const reservation = `text:${code}`;
      reservations.set(reservation, { owner, bytes: growth, deadline: Number.POSITIVE_INFINITY });
      try {
        await writer.run(chargeText, code, bytes);
      } finally {
        reservations.delete(reservation);
      }
      return undefined;
    },

    async extend({ blob }, deadline) {
      const reservation = reservations.get(blob);
      if (reservation) reservation.deadline = deadline;
    },

    async release({ blob }) {
      reservations.delete(blob);
    },

    async releaseAbandoned(now) {
      for (const [blob, { deadline }] of reservations) if (deadline <= now) reservations.delete(blob);
    },

    usage: async () => ({ stored: storedBy(allClients), reserved: reservedBy(allClients) }),

    usageOf: async (account) => usedBy(account),

    onFileAdded: (blob) => void reservations.delete(blob),
  };
}

export function chargeText(sql: Sql, code: RoomCode, bytes: number): void {
  sql('UPDATE rooms SET text_charge = ? WHERE id = ? AND text_charge IS NOT NULL').get(bytes, roomIdOf(code));
}

/** Other processes create and revoke keys too, and that takes effect within a second (KEY-4). */
const knownForMs = 500;
const maxKnown = 1000;

export function createKeyStore({ sql, snapshot, writer }: OpenedDatabase): KeyStore {
  /** By hash. Only valid keys, so that wrong ones cannot fill it. */
  const known = new Map<string, { key: ApiKey; until: number }>();

  function read(hash: string, now: number): ApiKey | undefined {
    const rowOf = () => sql(`SELECT ${keyColumns} FROM api_keys WHERE hash = ? AND revoked_at IS NULL`).get(hash);
    // A shared read may have started before another process created the key.
    const row = rowOf() ?? snapshot.within(rowOf);
    if (!row) return undefined;
    const key = fieldsOf<ApiKey>(row);
    if (known.size >= maxKnown) known.clear();
    known.set(hash, { key, until: now + knownForMs });
    return key;
  }

  const changing = <T>(change: Promise<T>): Promise<T> => change.finally(() => known.clear());

  return {
    create: (key, now) => changing(writer.run(createKey, key, now)),
    find(hash) {
      const now = performance.now();
      const found = known.get(hash);
      return found && found.until > now ? found.key : read(hash, now);
    },
    list: async () => rowsOf(sql, `SELECT ${keyColumns} FROM api_keys ORDER BY created_at, id`),
    revoke: (idOrName, now) => changing(writer.run(revokeKey, idOrName, now)),
  };
}

export const keyColumns = 'id, name, tier, created_at AS createdAt, revoked_at AS revokedAt';

export function createKey(sql: Sql, key: Parameters<KeyStore['create']>[0], now: number): ApiKey | undefined {
  const { id, name, tier, hash } = key;
  const made = { id, name, tier, createdAt: now, revokedAt: undefined };
  return insertKey(sql, { ...made, hash }) ? made : undefined;
}

/** False if a key in force has the name. */
export function insertKey(sql: Sql, { id, hash, name, tier, createdAt, revokedAt }: KeyRecord): boolean {
  const taken = sql('SELECT 1 FROM api_keys WHERE name = ? AND revoked_at IS NULL').get(name);
  if (taken && revokedAt === undefined) return false;
  insert(sql, 'api_keys', { id, hash, name, tier, created_at: createdAt, revoked_at: revokedAt });
  return true;
}

export function revokeKey(sql: Sql, idOrName: string, now: number): ApiKey | undefined {
  const revoked = sql(`
    UPDATE api_keys SET revoked_at = ?1 WHERE id = (
      SELECT id FROM api_keys WHERE (id = ?2 OR name = ?2) AND revoked_at IS NULL ORDER BY id = ?2 DESC LIMIT 1
    ) RETURNING ${keyColumns}
  `).get(now, idOrName);
  return revoked && fieldsOf(revoked);
}

export function createSecretRecord({ db, sql, snapshot, writer }: OpenedDatabase): SecretRecord {
  const stored = sql('SELECT fingerprint FROM secret_record');

  function keep(fingerprint: string): void {
    db.exec('PRAGMA query_only = OFF');
    try {
      snapshot.within(() => sql('INSERT OR IGNORE INTO secret_record VALUES (1, ?)').get(fingerprint));
    } finally {
      db.exec('PRAGMA query_only = ON');
    }
  }

  return {
    find: async () => stored.get()?.fingerprint as string | undefined,
    /** On this thread: the first start does it before it serves requests, and starting the writer would take longer. */
    async keep(fingerprint) {
      keep(fingerprint);
      return stored.get()?.fingerprint as string;
    },
    replace: (fingerprint) => writer.run(replaceSecretRecord, fingerprint),
  };
}

export function replaceSecretRecord(sql: Sql, fingerprint: string): void {
  sql('INSERT OR REPLACE INTO secret_record VALUES (1, ?)').get(fingerprint);
}
