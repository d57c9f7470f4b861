/** The lists of `poproom admin` as text. */
import type {
  AdminBlock,
  AdminClient,
  AdminKey,
  AdminNumbers,
  AdminPoint,
  AdminRoom,
} from '../../../protocol/types.ts';
import { formatBytes } from '../../counts.ts';
import { formatDuration } from '../../duration.ts';
import { printable } from '../../printable.ts';
import { table } from '../../table.ts';

/** The newest intervals. `--json` has all of them. */
const shownPoints = 24;

export function numbersTable({ nodes, rooms, channels, storedBytes, points }: AdminNumbers): string {
  const current = table([
    ['Nodes', String(nodes)],
    ['Rooms', String(rooms)],
    ['Live channels', String(channels)],
    ['Stored files', formatBytes(storedBytes)],
  ]);
  const head = ['SINCE', 'REQUESTS', 'REFUSED', 'FAILED', 'RECEIVED', 'SENT', 'NEW ROOMS', 'ROOMS', 'CHANNELS'];
  return `${current}\n\n${table([head, ...points.slice(-shownPoints).map(pointRow)])}`;
}

const pointRow = (point: AdminPoint) => [
  minute(point.at),
  String(point.requests),
  String(point.refused),
  String(point.failed),
  formatBytes(point.received),
  formatBytes(point.sent),
  String(point.roomsCreated),
  String(point.rooms),
  String(point.channels),
];

/** Ids are long, so they come last. */
export function roomTable(rooms: readonly AdminRoom[]): string {
  const head = ['ROOM', 'AGE', 'EXPIRES IN', 'SIZE', 'FILES', 'DEVICES', 'ENCRYPTED', 'CLIENT', 'ID'];
  const rows = rooms.map((room) => [
    room.code,
    formatDuration(Date.now() - Date.parse(room.createdAt)),
    formatDuration(Date.parse(room.expiresAt) - Date.now()),
    formatBytes(room.fileBytes + room.textBytes),
    String(room.fileCount),
    String(room.deviceCount),
    room.encrypted ? 'yes' : 'no',
    room.clientHash ?? '-',
    room.id,
  ]);
  return printableTable([head, ...rows]);
}

export function clientTable(clients: readonly AdminClient[]): string {
  const rows = clients.map(({ client, clientHash, ...traffic }) => [client, ...trafficCells(traffic), clientHash]);
  return printableTable([['CLIENT', ...trafficHead, 'HASH'], ...rows]);
}

export function blockTable(blocks: readonly AdminBlock[]): string {
  const rows = blocks.map(({ id, range, reason, endsAt }) => [id, range, endsAt ? minute(endsAt) : 'never', reason]);
  return printableTable([['ID', 'RANGE', 'ENDS', 'REASON'], ...rows]);
}

export function keyTable(keys: readonly AdminKey[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.tier,
    key.revokedAt ? 'revoked' : 'active',
    ...trafficCells(key),
    key.lastUsedAt ? minute(key.lastUsedAt) : 'never',
  ]);
  return printableTable([['ID', 'NAME', 'TIER', 'STATE', ...trafficHead, 'LAST USED'], ...rows]);
}

const trafficHead = ['REQUESTS', 'REFUSED', 'RECEIVED', 'SENT'];

const trafficCells = ({ requests, refused, received, sent }: Omit<AdminClient, 'client' | 'clientHash'>) => [
  String(requests),
  String(refused),
  formatBytes(received),
  formatBytes(sent),
];

const printableTable = (rows: readonly (readonly string[])[]) => table(rows.map((row) => row.map(printable)));

/** Such as "2026-11-15 09:30Z". */
const minute = (timestamp: string) => `${timestamp.slice(0, 16).replace('T', ' ')}Z`;
