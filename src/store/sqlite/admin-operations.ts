/** Changes of blocks and of the activity, within the writer's transaction. */
import type { ActivityLimits, ActivityReport, AddressBlock, ClientTraffic } from '../../core/ports.ts';
import type { Sql } from './statements.ts';

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
