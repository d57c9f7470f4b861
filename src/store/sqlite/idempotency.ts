/** Requests with idempotency keys on SQLite. One process owns the folder, so running requests are in memory. */
import type { DatabaseSync } from 'node:sqlite';
import type { FinishedRequest, IdempotencyStore } from '../../core/ports.ts';
import { prepareOnce } from './statements.ts';
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
