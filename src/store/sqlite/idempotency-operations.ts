/** Results of requests with idempotency keys. Part of the writer's operations. */
import type { FinishedRequest, RequestKey } from '../../core/ports.ts';
import type { Sql } from './statements.ts';

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

/** For sweeps. */
export function forgetRequests(sql: Sql, now: number): void {
  sql('DELETE FROM idempotent_requests WHERE expires_at <= ?').get(now);
  sql(`
    DELETE FROM idempotent_requests WHERE key IN (
      SELECT key FROM idempotent_requests ORDER BY expires_at DESC LIMIT -1 OFFSET ?
    )
  `).get(maxResults);
}
