/** Blocks of addresses and the activity of the server on SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import type { ActivityStore, AddressBlock, BlockStore, Traffic } from '../../core/ports.ts';
import { prepareOnce } from './statements.ts';
import type { Writer } from './writer.ts';

export function createBlockStore(db: DatabaseSync, writer: Writer): BlockStore {
  const sql = prepareOnce(db);
  return {
    put: (block, maximum) => writer.run('putBlock', block, maximum),
    remove: (id) => writer.run('removeBlock', id),
    async list(now) {
      const query = 'SELECT * FROM address_blocks WHERE ends_at IS NULL OR ends_at > ? ORDER BY created_at DESC, id';
      return sql(query).all(now).map(blockOf);
    },
  };
}

export function createActivityStore(db: DatabaseSync, writer: Writer): ActivityStore {
  const sql = prepareOnce(db);
  return {
    report: (report, limits, now) => writer.run('addReport', report, limits, now),
    async intervals(since) {
      return sql('SELECT * FROM activity WHERE at >= ? ORDER BY at').all(since).map(intervalOf);
    },
    async clients(since) {
      const rows = sql(`
        SELECT client, sum(requests) AS requests, sum(refused) AS refused, sum(received) AS received, sum(sent) AS sent
        FROM client_activity WHERE hour >= ? GROUP BY client
      `).all(since);
      return rows.map((row) => ({ client: String(row.client), ...trafficOf(row) }));
    },
    async keyUse() {
      const rows = sql('SELECT * FROM key_use').all();
      return rows.map((row) => ({
        keyId: String(row.key),
        ...trafficOf(row),
        lastUsedAt: Number(row.last_used_at),
      }));
    },
    async nodes(since) {
      const rows = sql('SELECT node, channels FROM activity_nodes WHERE seen_at >= ?').all(since);
      return rows.map(({ node, channels }) => ({ node: String(node), channels: Number(channels) }));
    },
  };
}

type Row = Record<string, unknown>;

function blockOf({ id, range, reason, created_at, ends_at }: Row): AddressBlock {
  return {
    id: String(id),
    range: String(range),
    reason: String(reason),
    createdAt: Number(created_at),
    endsAt: ends_at === null ? undefined : Number(ends_at),
  };
}

const intervalOf = (row: Row) => ({
  at: Number(row.at),
  ...trafficOf(row),
  failed: Number(row.failed),
  roomsCreated: Number(row.rooms_created),
  rooms: Number(row.rooms),
  channels: Number(row.channels),
  storedBytes: Number(row.stored_bytes),
});

function trafficOf({ requests, refused, received, sent }: Row): Traffic {
  return {
    requests: Number(requests),
    refused: Number(refused),
    received: Number(received),
    sent: Number(sent),
  };
}
