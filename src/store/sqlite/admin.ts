/** For operators: blocks of addresses, the activity of the server, and rooms without their content. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
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
} from '../../core/ports/admin.ts';
import type { MissingReason } from '../../core/ports/basics.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { createdByOf, type RoomId, roomIdOf, roomOf } from './cache.ts';
import { connect, FolderInUse, insert, lockFolder, prepareOnce, type Row, rowsOf, type Sql } from './database.ts';
import { migrate } from './schema.ts';
import type { Writer } from './writer.ts';

export function createBlockStore(sql: Sql, writer: Writer): BlockStore {
  return {
    put: (block, maximum) => writer.run(putBlock, block, maximum),
    remove: (id) => writer.run(removeBlock, id),
    async list(now) {
      const query = `
        SELECT id, range, reason, created_at AS createdAt, ends_at AS endsAt FROM address_blocks
        WHERE ends_at IS NULL OR ends_at > ? ORDER BY created_at DESC, id
      `;
      return rowsOf(sql, query, now);
    },
  };
}

export function createReportStore(sql: Sql, writer: Writer): ReportStore {
  return {
    put: (report, limits) => writer.run(putReport, report, limits),
    remove: (ids) => writer.run(removeReports, ids),
    async list(since) {
      const query = `
        SELECT id, code, room_created_at AS roomCreatedAt, reason, comment, client, created_at AS createdAt FROM reports
        WHERE created_at >= ? ORDER BY created_at DESC, id
      `;
      return rowsOf(sql, query, since);
    },
    async expire(before) {
      // A write would sync the disk for nothing.
      const rows = sql('SELECT id FROM reports WHERE created_at < ?').all(before);
      const ids = rows.map(({ id }) => String(id));
      if (ids.length > 0) await writer.run(removeReports, ids);
    },
  };
}

export function createActivityStore(sql: Sql, writer: Writer): ActivityStore {
  return {
    report: (report, limits, now) => writer.run(addReport, report, limits, now),
    async intervals(since) {
      const query = `
        SELECT at, ${trafficColumns}, failed, rooms_created AS roomsCreated, rooms, channels, stored_bytes AS storedBytes
        FROM activity WHERE at >= ? ORDER BY at
      `;
      return rowsOf(sql, query, since);
    },
    async clients(since) {
      const query = `
        SELECT client, sum(requests) AS requests, sum(refused) AS refused, sum(received) AS received, sum(sent) AS sent
        FROM client_activity WHERE hour >= ? GROUP BY client
      `;
      return rowsOf(sql, query, since);
    },
    keyUse: async () => rowsOf(sql, `SELECT key AS keyId, ${trafficColumns}, last_used_at AS lastUsedAt FROM key_use`),
    nodes: async (since) => rowsOf(sql, 'SELECT node, channels FROM activity_nodes WHERE seen_at >= ?', since),
  };
}

const trafficColumns = 'requests, refused, received, sent';

const hourMs = 3600_000;

export function putBlock(sql: Sql, block: AddressBlock, maximum: number): 'stored' | 'full' {
  const { id, range, reason, createdAt, endsAt } = block;
  sql('DELETE FROM address_blocks WHERE ends_at <= ?').get(createdAt);
  const others = sql('SELECT count(*) AS count FROM address_blocks WHERE range <> ?').get(range);
  if (Number(others?.count) >= maximum) return 'full';
  sql('DELETE FROM address_blocks WHERE range = ?').get(range);
  insert(sql, 'address_blocks', { id, range, reason, created_at: createdAt, ends_at: endsAt });
  return 'stored';
}

export const removeBlock = (sql: Sql, id: string): 'removed' | 'unknown' =>
  sql('DELETE FROM address_blocks WHERE id = ? RETURNING id').get(id) ? 'removed' : 'unknown';

export function putReport(sql: Sql, report: RoomReport, limits: ReportLimits): 'stored' | 'full' {
  const { id, code, roomCreatedAt, reason, comment, client, createdAt } = report;
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
  const times = { room_created_at: roomCreatedAt, created_at: createdAt };
  insert(sql, 'reports', { id, code, reason, comment, client, ...times });
  return 'stored';
}

export const removeReports = (sql: Sql, ids: readonly string[]): number =>
  ids.filter((id) => sql('DELETE FROM reports WHERE id = ? RETURNING id').get(id)).length;

export function addReport(sql: Sql, report: ActivityReport, limits: ActivityLimits, now: number): void {
  const at = now - (now % limits.intervalMs);
  const { roomsCreated, ...totals } = report.totals;
  addCounts(sql, 'activity', { at }, { ...totals, rooms_created: roomsCreated });
  addGauges(sql, at, report, now - limits.nodeSeenMs, now);
  addClients(sql, report.clients, limits.clientsPerHour, now);
  sql('DELETE FROM activity WHERE at < ?').get(now - limits.keptMs);
  sql('DELETE FROM client_activity WHERE hour < ?').get(now - limits.clientsKeptMs);
}

/** Adds counts to those of the row with this key, or inserts the row. */
function addCounts(
  sql: Sql,
  table: string,
  key: Record<string, number | string>,
  counts: Record<string, number>,
): void {
  const row = { ...key, ...counts };
  const columns = Object.keys(row);
  const sums = Object.keys(counts).map((name) => `${name} = ${name} + excluded.${name}`);
  const values = `(${columns}) VALUES (${columns.map(() => '?')})`;
  sql(`INSERT INTO ${table} ${values} ON CONFLICT (${Object.keys(key)}) DO UPDATE SET ${sums}`).get(
    ...Object.values(row),
  );
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
  for (const { client, ...traffic } of clients) {
    addCounts(sql, 'client_activity', { hour, client }, traffic);
    const [, keyId] = /^key:(.+)$/.exec(client) ?? [];
    if (keyId === undefined) continue;
    addCounts(sql, 'key_use', { key: keyId }, { ...traffic, last_used_at: 0 });
    sql('UPDATE key_use SET last_used_at = ? WHERE key = ?').get(now, keyId);
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
export function createRoomSummaries(sql: Sql): RoomSummaries {
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
function summaryOf(row: Row): RoomSummary {
  const { name, ...room } = roomOf(row);
  const client = (row.client as string | null) ?? undefined;
  return { ...room, textBytes: Number(row.text_bytes), client, ...createdByOf(row) };
}

/** Requests of the command line to this server, which it writes into the database. */
export function createOperatorInbox(sql: Sql, writer: Writer): OperatorInbox {
  return {
    async unanswered() {
      const rows = sql('SELECT id, request FROM operator_requests WHERE answer IS NULL ORDER BY id').all();
      const parse = (request: unknown) => JSON.parse(String(request)) as OperatorRequest;
      return rows.map(({ id, request }) => ({ id: Number(id), request: parse(request) }));
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
  const sql = prepareOnce(db);

  /** The answer is undefined if the server does not respond in time. The request stays until it does. */
  async function ask(request: OperatorRequest, now: number): Promise<{ id: number; answer: unknown }> {
    sql('DELETE FROM operator_requests WHERE answer IS NOT NULL AND asked_at < ?').get(now - abandonedMs);
    const asked = sql('INSERT INTO operator_requests (asked_at, request) VALUES (?, ?) RETURNING id');
    const id = Number(asked.get(now, JSON.stringify(request))?.id);
    const answered = sql('SELECT answer FROM operator_requests WHERE id = ? AND answer IS NOT NULL');
    for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += pollMs) {
      const row = answered.get(id);
      if (row) return { id, answer: JSON.parse(String(row.answer)) };
      await pause(pollMs);
    }
    return { id, answer: undefined };
  }

  const withdraw = (id: number) => sql('DELETE FROM operator_requests WHERE id = ?').get(id);

  return {
    ...createRoomSummaries(sql),

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
