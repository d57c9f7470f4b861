/** Requests with idempotency keys on SQLite. One process owns the folder, so leases are in memory. */
import type { FinishedRequest, IdempotencyStore, RequestKey, RequestRecord } from '../../core/ports/basics.ts';
import type { Sql } from './database.ts';

type Lease = { runner: string; endsAt: number };

export function createIdempotencyStore(sql: Sql): IdempotencyStore {
  /** A runner ends its lease, so there are as many as running requests. */
  const leases = new Map<string, Lease>();

  return {
    find: (_room, key, now) => findRequest(sql, key, now),

    async begin(_room, { client, key }, runner, now, leaseMs) {
      const request = findRequest(sql, { client, key }, now);
      if (request) return { state: 'finished', request };
      const other = leases.get(key);
      if (other && other.endsAt > now) return { state: 'running', leaseMs: other.endsAt - now };
      leases.set(key, { runner, endsAt: now + leaseMs });
      return { state: 'started' };
    },

    async renew(_room, { key }, runner, now, leaseMs) {
      if (leases.get(key)?.runner === runner) leases.set(key, { runner, endsAt: now + leaseMs });
    },

    async end(_room, { key }, runner) {
      if (leases.get(key)?.runner === runner) leases.delete(key);
    },
  };
}

export function findRequest(sql: Sql, { key }: RequestKey, now: number): FinishedRequest | undefined {
  const query = 'SELECT fingerprint, result FROM idempotent_requests WHERE key = ? AND expires_at > ?';
  const row = sql(query).get(key, now) as { fingerprint: string; result: string } | undefined;
  if (!row) return undefined;
  const [, codeLength, result = row.result] = /^([0-9]+):(.*)$/.exec(row.result) ?? [];
  return { fingerprint: row.fingerprint, result, ...(codeLength && { codeLength: Number(codeLength) }) };
}

export function rememberRequest(sql: Sql, record: RequestRecord): void {
  const { key, client, fingerprint, codeLength, expiresAt, perClient, inTotal } = record;
  // Base64 has no colon.
  const result = codeLength === undefined ? record.result : `${codeLength}:${record.result}`;
  // An expired one. Without this, the triggers would not notice that it is replaced.
  sql('DELETE FROM idempotent_requests WHERE key = ?').get(key);
  sql('INSERT INTO idempotent_requests VALUES (?, ?, ?, ?, ?)').get(key, client, fingerprint, result, expiresAt);
  const own = Number(sql('SELECT results FROM idempotent_clients WHERE client = ?').get(client)?.results);
  if (own > perClient) dropOldestOf(sql, client, own - perClient);
  if (Number(sql('SELECT total FROM idempotent_count').get()?.total) <= inTotal) return;
  const largest = sql('SELECT client FROM idempotent_clients ORDER BY results DESC LIMIT 1').get();
  dropOldestOf(sql, String(largest?.client), 1);
}

function dropOldestOf(sql: Sql, client: string, count: number): void {
  sql(`
    DELETE FROM idempotent_requests WHERE key IN (
      SELECT key FROM idempotent_requests WHERE client = ? ORDER BY expires_at LIMIT ?
    )
  `).get(client, count);
}

/** For sweeps. */
export function forgetRequests(sql: Sql, now: number): void {
  sql('DELETE FROM idempotent_requests WHERE expires_at <= ?').get(now);
}
