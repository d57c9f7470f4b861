/** Requests with idempotency keys on SQLite. One process owns the folder, so running requests are in memory. */
import type { DatabaseSync } from 'node:sqlite';
import type { FinishedRequest, IdempotencyStore, RequestKey } from '../../core/ports.ts';
import { prepareOnce, type Sql } from './statements.ts';
import type { Writer } from './writer.ts';

interface Running {
  runner: string;
  leaseEndsAt: number;
}

export function createIdempotencyStore(db: DatabaseSync, writer: Writer): IdempotencyStore {
  const sql = prepareOnce(db);
  const running = new Map<string, Running>();

  function end(key: string, runner: string): void {
    if (running.get(key)?.runner === runner) running.delete(key);
  }

  return {
    async begin({ key }, runner, now, leaseMs) {
      const other = running.get(key);
      if (other && other.leaseEndsAt > now) return { state: 'running' };
      const row = sql('SELECT fingerprint, result FROM idempotent_requests WHERE key = ? AND expires_at > ?').get(
        key,
        now,
      );
      if (row) {
        const { fingerprint, result } = row as unknown as FinishedRequest;
        return { state: 'finished', request: { fingerprint, result } };
      }
      running.set(key, { runner, leaseEndsAt: now + leaseMs });
      return { state: 'started' };
    },

    async renew({ key }, runner, now, leaseMs) {
      if (running.get(key)?.runner === runner) running.set(key, { runner, leaseEndsAt: now + leaseMs });
    },

    async finish(key, runner, request, limits) {
      await writer.run('rememberRequest', key, { ...request }, limits);
      end(key.key, runner);
    },

    async abandon({ key }, runner) {
      end(key, runner);
    },
  };
}

/** Part of the writer's operations. */
export function rememberRequest(
  sql: Sql,
  { client, key }: RequestKey,
  { fingerprint, result }: FinishedRequest,
  { expiresAt, perClient }: { expiresAt: number; perClient: number },
): void {
  const values = [key, client, fingerprint, result, expiresAt] as const;
  sql('INSERT OR REPLACE INTO idempotent_requests VALUES (?, ?, ?, ?, ?)').get(...values);
  sql(`
    DELETE FROM idempotent_requests WHERE key IN (
      SELECT key FROM idempotent_requests WHERE client = ? ORDER BY expires_at DESC, key LIMIT -1 OFFSET ?
    )
  `).get(client, perClient);
}

/** Of all clients together. A sweep removes the oldest ones beyond it. */
const maxResults = 100_000;

/** Part of the writer's operations, for sweeps. */
export function forgetRequests(sql: Sql, now: number): void {
  sql('DELETE FROM idempotent_requests WHERE expires_at <= ?').get(now);
  sql(`
    DELETE FROM idempotent_requests WHERE key IN (
      SELECT key FROM idempotent_requests ORDER BY expires_at DESC LIMIT -1 OFFSET ?
    )
  `).get(maxResults);
}
