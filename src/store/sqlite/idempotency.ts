/** Requests with idempotency keys on SQLite. One process owns the folder, so leases are in memory. */
import type { DatabaseSync } from 'node:sqlite';
import type { IdempotencyStore } from '../../core/ports.ts';
import { findRequest } from './idempotency-operations.ts';
import { prepareOnce } from './statements.ts';

interface Lease {
  runner: string;
  endsAt: number;
}

export function createIdempotencyStore(db: DatabaseSync): IdempotencyStore {
  const sql = prepareOnce(db);
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
