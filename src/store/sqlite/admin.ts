/** For operators: blocks of addresses, the activity of the server, and rooms without their content. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  ActivityLimits,
  ActivityReport,
  ActivityStore,
  AddressBlock,
  BlockStore,
  ClientTraffic,
  OperatorInbox,
  OperatorRequest,
  ReportLimits,
  ReportStore,
  RoomDirectory,
  RoomReport,
  RoomSummaries,
  RoomSummary,
  Traffic,
} from '../../core/ports/admin.ts';
import type { MissingReason } from '../../core/ports/basics.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { createdByOf, type RoomId, roomIdOf, roomOf } from './cache.ts';
import { connect, FolderInUse, lockFolder, prepareOnce, type Sql } from './database.ts';
import { migrate } from './schema.ts';
import type { Writer } from './writer.ts';

export function createBlockStore(db: DatabaseSync, writer: Writer): BlockStore {
  const sql = prepareOnce(db);
  return {
    put: (block, maximum) => writer.run(putBlock, block, maximum),
    remove: (id) => writer.run(removeBlock, id),
    async list(now) {
      const query = 'SELECT * FROM address_blocks WHERE ends_at IS NULL OR ends_at > ? ORDER BY created_at DESC, id';
      return sql(query).all(now).map(blockOf);
    },
  };
}

export function createReportStore(db: DatabaseSync, writer: Writer): ReportStore {
  const sql = prepareOnce(db);
  return {
    put: (report, limits) => writer.run(putReport, report, limits),
    remove: (ids) => writer.run(removeReports, ids),
    async list(since) {
      return sql('SELECT * FROM reports WHERE created_at >= ? ORDER BY created_at DESC, id').all(since).map(reportOf);
    },
    async expire(before) {
      // A write would sync the disk for nothing.
      const ids = sql('SELECT id FROM reports WHERE created_at < ?').all(before);
      if (ids.length > 0)
        await writer.run(
          removeReports,
          ids.map(({ id }) => String(id)),
        );
    },
  };
}

export function createActivityStore(db: DatabaseSync, writer: Writer): ActivityStore {
  const sql = prepareOnce(db);
  return {
    report: (report, limits, now) => writer.run(addReport, report, limits, now),
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

function reportOf({ id, code, room_created_at, reason, comment, client, created_at }: Row): RoomReport {
  return {
    id: String(id),
    code: code as RoomCode,
    roomCreatedAt: Number(room_created_at),
    reason: reason as RoomReport['reason'],
    comment: comment === null ? undefined : String(comment),
    client: String(client),
    createdAt: Number(created_at),
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

const hourMs = 3600_000;

export function putBlock(sql: Sql, block: AddressBlock, maximum: number): 'stored' | 'full' {
  const { id, range, reason, createdAt, endsAt = null } = block;
  sql('DELETE FROM address_blocks WHERE ends_at <= ?').get(createdAt);
  const others = sql('SELECT count(*) AS count FROM address_blocks WHERE range <> ?').get(range);
  if (Number(others?.count) >= maximum) return 'full';
  sql('DELETE FROM address_blocks WHERE range = ?').get(range);
  sql('INSERT INTO address_blocks (id, range, reason, created_at, ends_at) VALUES (?, ?, ?, ?, ?)').get(
    id,
    range,
    reason,
    createdAt,
    endsAt,
  );
  return 'stored';
}

export function removeBlock(sql: Sql, id: string): 'removed' | 'unknown' {
  return sql('DELETE FROM address_blocks WHERE id = ? RETURNING id').get(id) ? 'removed' : 'unknown';
}

export function putReport(sql: Sql, report: RoomReport, limits: ReportLimits): 'stored' | 'full' {
  const { id, code, roomCreatedAt, reason, comment = null, client, createdAt } = report;
  sql('DELETE FROM reports WHERE created_at < ?').get(createdAt - limits.keptMs);
  sql('DELETE FROM reports WHERE code = ? AND room_created_at = ? AND client = ?').get(code, roomCreatedAt, client);
  const counts = sql(`
    SELECT count(*) AS total, count(*) FILTER (WHERE code = ? AND room_created_at = ?) AS of_room,
      count(*) FILTER (WHERE client = ?) AS of_client FROM reports
  `).get(code, roomCreatedAt, client);
  const isFull =
    Number(counts?.total) >= limits.inTotal ||
    Number(counts?.of_room) >= limits.perRoom ||
    Number(counts?.of_client) >= limits.perClient;
  if (isFull) return 'full';
  sql(`
    INSERT INTO reports (id, code, room_created_at, reason, comment, client, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
  `).get(id, code, roomCreatedAt, reason, comment, client, createdAt);
  return 'stored';
}

export function removeReports(sql: Sql, ids: readonly string[]): number {
  const removed = ids.filter((id) => sql('DELETE FROM reports WHERE id = ? RETURNING id').get(id));
  return removed.length;
}

export function addReport(sql: Sql, report: ActivityReport, limits: ActivityLimits, now: number): void {
  const at = now - (now % limits.intervalMs);
  addTotals(sql, at, report);
  addGauges(sql, at, report, now - limits.nodeSeenMs, now);
  addClients(sql, report.clients, limits.clientsPerHour, now);
  sql('DELETE FROM activity WHERE at < ?').get(now - limits.keptMs);
  sql('DELETE FROM client_activity WHERE hour < ?').get(now - limits.clientsKeptMs);
}

function addTotals(sql: Sql, at: number, { totals }: ActivityReport): void {
  const { requests, refused, received, sent, failed, roomsCreated } = totals;
  sql(`
    INSERT INTO activity (at, requests, refused, received, sent, failed, rooms_created) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (at) DO UPDATE SET requests = requests + excluded.requests, refused = refused + excluded.refused,
      received = received + excluded.received, sent = sent + excluded.sent, failed = failed + excluded.failed,
      rooms_created = rooms_created + excluded.rooms_created
  `).get(at, requests, refused, received, sent, failed, roomsCreated);
}

function addGauges(sql: Sql, at: number, { node, gauges }: ActivityReport, seenSince: number, now: number): void {
  sql('DELETE FROM activity_nodes WHERE node = ? OR seen_at < ?').get(node, seenSince);
  if (!gauges) return;
  sql('INSERT INTO activity_nodes (node, seen_at, channels) VALUES (?, ?, ?)').get(node, now, gauges.channels);
  sql(`
    UPDATE activity SET rooms = ?, stored_bytes = ?,
      channels = max(channels, (SELECT sum(channels) FROM activity_nodes)) WHERE at = ?
  `).get(gauges.rooms, gauges.storedBytes, at);
}

function addClients(sql: Sql, clients: readonly ClientTraffic[], perHour: number, now: number): void {
  const hour = now - (now % hourMs);
  for (const { client, requests, refused, received, sent } of clients) {
    sql(`
      INSERT INTO client_activity (hour, client, requests, refused, received, sent) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (hour, client) DO UPDATE SET requests = requests + excluded.requests,
        refused = refused + excluded.refused, received = received + excluded.received, sent = sent + excluded.sent
    `).get(hour, client, requests, refused, received, sent);
    const [, keyId] = /^key:(.+)$/.exec(client) ?? [];
    if (keyId === undefined) continue;
    sql(`
      INSERT INTO key_use (key, requests, refused, received, sent, last_used_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET requests = requests + excluded.requests, refused = refused + excluded.refused,
        received = received + excluded.received, sent = sent + excluded.sent, last_used_at = excluded.last_used_at
    `).get(keyId, requests, refused, received, sent, now);
  }
  if (clients.length === 0) return;
  sql(`
    DELETE FROM client_activity WHERE hour = ?1 AND client IN (
      SELECT client FROM client_activity WHERE hour = ?1 ORDER BY requests DESC, client LIMIT -1 OFFSET ?2
    )
  `).get(hour, perHour);
}

/** A batch takes a few milliseconds, in which the server does nothing else. */
const batchSize = 200;

const summaryQuery = `
  SELECT code, created_at, expires_at, pin_mac, salt, file_count, file_bytes, client, created_by,
    (SELECT coalesce(sum(octet_length(content)), 0) FROM texts WHERE room = rooms.id)
    + (SELECT coalesce(sum(octet_length(content)), 0) FROM history WHERE room = rooms.id)
    + (SELECT coalesce(sum(octet_length(edits) + ifnull(octet_length(sealed), 0)), 0) FROM edits WHERE room = rooms.id) AS text_bytes
  FROM rooms
`;

/** Rooms for operators, read in batches so that no read transaction stays open. */
export function createRoomSummaries(db: DatabaseSync): RoomSummaries {
  const sql = prepareOnce(db);
  return {
    async *list(now) {
      const query = `${summaryQuery} WHERE id > ? AND expires_at > ? ORDER BY id LIMIT ${batchSize}`;
      for (let last: RoomId = -1; ; ) {
        const batch = sql(query).all(last, now).map(summaryOf);
        yield* batch;
        const end = batch[batchSize - 1];
        if (!end) return;
        last = roomIdOf(end.code);
        await new Promise(setImmediate);
      }
    },

    async find(code, now) {
      const row = sql(`${summaryQuery} WHERE id = ? AND expires_at > ?`).get(roomIdOf(code), now);
      return row && summaryOf(row);
    },
  };
}

/** Names of rooms are not for operators. */
function summaryOf(row: Record<string, unknown>): RoomSummary {
  const { name, ...room } = roomOf(row);
  const client = (row.client as string | null) ?? undefined;
  return { ...room, textBytes: Number(row.text_bytes), client, ...createdByOf(row) };
}

/** Requests of the command line to this server, which it writes into the database. */
export function createOperatorInbox(db: DatabaseSync, writer: Writer): OperatorInbox {
  const unanswered = db.prepare('SELECT id, request FROM operator_requests WHERE answer IS NULL ORDER BY id');
  return {
    async unanswered() {
      const rows = unanswered.all();
      return rows.map(({ id, request }) => ({
        id: Number(id),
        request: JSON.parse(String(request)) as OperatorRequest,
      }));
    },
    answer: (id, answer) => writer.run(answerRequest, id, JSON.stringify(answer)),
  };
}

export function answerRequest(sql: Sql, id: number, answer: string): void {
  sql('UPDATE operator_requests SET answer = ? WHERE id = ?').get(answer, id);
}

interface SqliteDirectoryOptions {
  folder: string;
  /** Removes rooms while no server runs. Returns the reason for each missing room. */
  removeAlone: (codes: readonly RoomCode[]) => Promise<(MissingReason | undefined)[]>;
}

/** Much longer than a running server needs to respond. */
const timeoutMs = 10_000;
const pollMs = 50;
/** Age at which requests of a killed command are removed. */
const abandonedMs = 3600_000;

/**
 * The rooms of a database for the command line. A running server caches rooms, so only it may remove them: the command
 * line writes a request into the database, and the server responds there.
 */
export function openSqliteDirectory({ folder, removeAlone }: SqliteDirectoryOptions): RoomDirectory {
  const db = connect(join(folder, 'poproom.db'));
  try {
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }

  /** The answer is undefined if the server does not respond in time. The request stays until it does. */
  async function ask(request: OperatorRequest, now: number): Promise<{ id: number; answer: unknown }> {
    db.prepare('DELETE FROM operator_requests WHERE answer IS NOT NULL AND asked_at < ?').get(now - abandonedMs);
    const asked = db.prepare('INSERT INTO operator_requests (asked_at, request) VALUES (?, ?) RETURNING id');
    const id = Number(asked.get(now, JSON.stringify(request))?.id);
    const answered = db.prepare('SELECT answer FROM operator_requests WHERE id = ? AND answer IS NOT NULL');
    for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += pollMs) {
      const row = answered.get(id);
      if (row) return { id, answer: JSON.parse(String(row.answer)) };
      await pause(pollMs);
    }
    return { id, answer: undefined };
  }

  const withdraw = (id: number) => db.prepare('DELETE FROM operator_requests WHERE id = ?').get(id);

  return {
    ...createRoomSummaries(db),

    async countDevices(codes, now) {
      if (!isServed(folder)) return codes.map(() => 0);
      const { id, answer } = await ask({ countDevices: codes }, now);
      withdraw(id);
      return answer as number[] | undefined;
    },

    async remove(codes, now) {
      if (!isServed(folder)) return (await removeAlone(codes)).map((reason) => reason ?? 'removed');
      const { id, answer } = await ask({ remove: codes }, now);
      if (answer === undefined) return codes.map(() => 'requested');
      withdraw(id);
      return answer as ('removed' | MissingReason)[];
    },

    async close() {
      db.close();
    },
  };
}

/** Whether a server runs on the folder. */
function isServed(folder: string): boolean {
  if (!existsSync(join(folder, 'server.lock'))) return false;
  try {
    lockFolder(folder)();
    return false;
  } catch (error) {
    if (error instanceof FolderInUse) return true;
    throw error;
  }
}
