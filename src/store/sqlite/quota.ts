/**
 * Bytes of files by owner. Database triggers count stored bytes. Reserved bytes are in memory, because one process owns
 * the database and its uploads end with it.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Owner } from '../../core/ports/basics.ts';
import type { ReachedLimit, StorageAccounts } from '../../core/ports/clients.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { roomIdOf } from './cache.ts';
import { prepareOnce, type Sql } from './database.ts';
import type { Writer } from './writer.ts';

interface Reservation {
  owner: Owner;
  bytes: number;
  deadline: number;
}

export interface SqliteStorage extends StorageAccounts {
  /** The file of a reservation was added, or definitely was not. */
  onFileAdded(blob: string): void;
}

const allClients = '';

export function createStorage(db: DatabaseSync, writer: Writer): SqliteStorage {
  const sql = prepareOnce(db);
  const reservations = new Map<string, Reservation>();

  function storedBy(account: string): number {
    return Number(sql('SELECT bytes FROM usage WHERE account = ?').get(account)?.bytes ?? 0);
  }

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
    return {
      scope,
      used: usedBy(account),
      maximum,
      freesAt: scope === 'total' ? undefined : freesAt(scope, account),
    };
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

    async usage() {
      return { stored: storedBy(allClients), reserved: reservedBy(allClients) };
    },

    async usageOf(account) {
      return usedBy(account);
    },

    onFileAdded: (blob) => void reservations.delete(blob),
  };
}

export function chargeText(sql: Sql, code: RoomCode, bytes: number): void {
  sql('UPDATE rooms SET text_charge = ? WHERE id = ? AND text_charge IS NOT NULL').get(bytes, roomIdOf(code));
}
