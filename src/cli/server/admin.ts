/** `poproom admin`: what operators see and do on a running server, over its admin API. */
import { PoproomError } from '../../client/index.ts';
import { createRetry } from '../../client/retry.ts';
import { createTimeouts } from '../../client/silence-limit.ts';
import { createTransport } from '../../client/transport.ts';
import type {
  AdminBlock,
  AdminBlockList,
  AdminClient,
  AdminClientList,
  AdminKey,
  AdminKeyList,
  AdminNumbers,
  AdminPoint,
  AdminReport,
  AdminReportList,
  AdminRoom,
  AdminRoomList,
  AdminRoomRevealed,
  Confirmation,
} from '../../protocol/types.ts';
import type { Input } from '../command.ts';
import { explainOffline } from '../connection-error.ts';
import { formatDuration, readDuration, timeoutOf } from '../duration.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { countOf, formatBytes, formatJson, print, printable, printNotice, table } from '../output.ts';
import { askHidden, mustConfirm } from '../prompt.ts';
import { chooseNamedServer } from '../server-choice.ts';

/** `rooms` is the earlier name of `poproom rooms --admin`, which scripts may use. */
const usage =
  'Usage: poproom admin numbers | reveal ROOM | rm ROOM… | reports | dismiss ID… | clients | blocks | block RANGE --reason TEXT | unblock ID | keys | revoke ID';

type Action = (input: Input, api: AdminApi, names: readonly string[]) => Promise<void>;

/** With the number of arguments that each action takes. */
const actions: Record<string, { run: Action; least: number; most: number }> = {
  numbers: { run: numbers, least: 0, most: 0 },
  rooms: { run: rooms, least: 0, most: 0 },
  reveal: { run: reveal, least: 1, most: 1 },
  rm: { run: remove, least: 1, most: Number.POSITIVE_INFINITY },
  reports: { run: reports, least: 0, most: 0 },
  dismiss: { run: dismiss, least: 1, most: Number.POSITIVE_INFINITY },
  clients: { run: clients, least: 0, most: 0 },
  blocks: { run: blocks, least: 0, most: 0 },
  block: { run: block, least: 1, most: 1 },
  unblock: { run: unblock, least: 1, most: 1 },
  keys: { run: keys, least: 0, most: 0 },
  revoke: { run: revoke, least: 1, most: 1 },
};

export async function admin(input: Input): Promise<void> {
  const [name = '', ...names] = input.args;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || names.length < action.least || names.length > action.most) throw new UsageError(usage);
  await action.run(input, await connectAdmin(input), names);
}

async function numbers(input: Input, api: AdminApi): Promise<void> {
  const found = await api.get<AdminNumbers>(`/numbers${queryOf(input, ['hours'])}`, ['points']);
  print(input, found, numbersTable(found));
}

async function rooms(input: Input, api: AdminApi): Promise<void> {
  const found = await api.get<AdminRoomList>(`/rooms${queryOf(input, ['sort', 'client', 'limit', 'offset'])}`, [
    'rooms',
  ]);
  printList(input, found, found.rooms, roomTable(found.rooms), 'room');
}

async function reveal(input: Input, api: AdminApi, [room = '']: readonly string[]): Promise<void> {
  const found = await api.send<AdminRoomRevealed>('POST', `/rooms/${roomIn(room)}/reveal`, ['roomId']);
  print(input, found, printable(found.roomId));
}

async function remove(input: Input, api: AdminApi, names: readonly string[]): Promise<void> {
  await mustConfirm(input, `Delete ${countOf(names.length, 'room')} for everyone?`);
  for (const name of names) {
    const done = await api.send<Confirmation>('DELETE', `/rooms/${roomIn(name)}`, ['message']);
    print(input, done, printable(done.message));
  }
}

async function reports(input: Input, api: AdminApi): Promise<void> {
  const found = await api.get<AdminReportList>(`/reports${queryOf(input, ['limit', 'offset'])}`, ['reports']);
  printList(input, found, found.reports, reportTable(found.reports), 'report');
}

async function dismiss(input: Input, api: AdminApi, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const done = await api.send<Confirmation>('DELETE', `/reports/${encodeURIComponent(id)}`, ['message']);
    print(input, done, printable(done.message));
  }
}

async function clients(input: Input, api: AdminApi): Promise<void> {
  const query = queryOf(input, ['sort', 'hours', 'limit', 'offset']);
  const found = await api.get<AdminClientList>(`/clients${query}`, ['clients']);
  printList(input, found, found.clients, clientTable(found.clients), 'client');
}

async function blocks(input: Input, api: AdminApi): Promise<void> {
  const found = await api.get<AdminBlockList>('/blocks', ['blocks']);
  printList(input, { ...found, total: found.blocks.length }, found.blocks, blockTable(found.blocks), 'block');
}

async function block(input: Input, api: AdminApi, [range = '']: readonly string[]): Promise<void> {
  const [reason, expires] = [input.value('reason'), input.value('expires')];
  if (!reason) throw new UsageError('Why is this range blocked? Give a note for operators with --reason.');
  const end = expires === undefined ? {} : { expiresIn: readDuration(expires) };
  const json = { range, reason, ...end, ...(input.isSet('force') && { force: true }) };
  const made = await api.send<AdminBlock>('POST', '/blocks', ['id', 'range'], json);
  print(input, made, `Blocked ${printable(made.range)} (${printable(made.id)}).`);
}

/** Accepts the range of a block, too. */
async function unblock(input: Input, api: AdminApi, [name = '']: readonly string[]): Promise<void> {
  const { blocks: all } = await api.get<AdminBlockList>('/blocks', ['blocks']);
  const found = all.find(({ id, range }) => [id, range, range.replace(/\/(32|128)$/, '')].includes(name));
  if (!found) throw new UsageError(`There is no block "${name}"; "poproom admin blocks" lists all.`);
  const done = await api.send<Confirmation>('DELETE', `/blocks/${encodeURIComponent(found.id)}`, ['message']);
  print(input, done, `Unblocked ${printable(found.range)}.`);
}

async function keys(input: Input, api: AdminApi): Promise<void> {
  const found = await api.get<AdminKeyList>(`/keys${queryOf(input, ['limit', 'offset'])}`, ['keys']);
  printList(input, found, found.keys, keyTable(found.keys), 'key');
}

async function revoke(input: Input, api: AdminApi, [id = '']: readonly string[]): Promise<void> {
  if (!/^[0-9a-f]{10}$/.test(id)) throw new UsageError('Which key? Give its ID from "poproom admin keys".');
  await mustConfirm(input, 'Revoke this key? This cannot be undone.');
  const revoked = await api.send<AdminKey>('DELETE', `/keys/${id}`, ['id', 'name']);
  print(input, revoked, `Revoked the key "${printable(revoked.name)}" (${printable(revoked.id)}).`);
}

/** The options that were given, as the API names them. */
function queryOf(input: Input, names: readonly string[]): string {
  const given = names.flatMap((name) => {
    const value = input.value(name);
    return value === undefined ? [] : [[name, value]];
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** Accepts an id from the list, a code, or the link of a room. */
const roomIn = (text: string) => encodeURIComponent(/\/r\/([^/?#]+)/.exec(text)?.[1] ?? text);

function printList(input: Input, found: { total: number }, rows: readonly unknown[], text: string, noun: string): void {
  if (input.isSet('json')) return void console.log(formatJson(found));
  if (rows.length > 0) console.log(text);
  const shown = rows.length < found.total ? ` Showing ${rows.length}; see --limit and --offset.` : '';
  printNotice(`${countOf(found.total, noun)}.${shown}`);
}

/** Requests of `poproom admin`, with the admin token. */
interface AdminApi {
  /** `fields` are those that the response must have. */
  get<T extends object>(path: string, fields: readonly (keyof T)[]): Promise<T>;
  send<T extends object>(
    method: 'POST' | 'DELETE',
    path: string,
    fields: readonly (keyof T)[],
    json?: object,
  ): Promise<T>;
}

async function connectAdmin(input: Input): Promise<AdminApi> {
  const environment = readEnvironment();
  const url = chooseNamedServer(environment, input.value('url'));
  const token = environment.adminToken ?? (await askHidden(`Admin token of ${url}: `));
  if (!token) throw new UsageError('Set POPROOM_ADMIN_TOKEN to the admin token of the server.');
  const withRetry = createRetry({ attempts: 3, maxSeconds: 5 });
  const timeouts = createTimeouts(timeoutOf(input, environment) ?? 0);
  const transport = createTransport({ url, apiKey: token, withRetry, timeouts });

  async function call<T extends object>(
    method: string,
    path: string,
    fields: readonly (keyof T)[],
    json?: object,
  ): Promise<T> {
    const hasFields = (body: unknown): body is T =>
      typeof body === 'object' && body !== null && fields.every((field) => field in body);
    try {
      return await transport.call(`/api/admin${path}`, hasFields, { method, ...(json && { json }) });
    } catch (error) {
      throw error instanceof PoproomError ? explainError(error, transport.url) : error;
    }
  }

  return {
    get: (path, fields) => call('GET', path, fields),
    send: (method, path, fields, json) => call(method, path, fields, json),
  };
}

/** Without the token, a server has no such paths. */
function explainError(error: PoproomError, url: string): Error {
  if (error.code === 'OFFLINE') return explainOffline(error, url);
  const isMissing = error.code === 'NOT_FOUND' && error.message.startsWith('No endpoint');
  return isMissing
    ? new UsageError(`The admin interface of ${url} is disabled; set POPROOM_ADMIN_TOKEN for the server.`)
    : error;
}

/** The newest intervals. `--json` has all of them. */
const shownPoints = 24;

function numbersTable({ nodes, rooms, channels, storedBytes, points }: AdminNumbers): string {
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
function roomTable(rooms: readonly AdminRoom[]): string {
  const head = ['ROOM', 'AGE', 'EXPIRES IN', 'SIZE', 'FILES', 'DEVICES', 'ENCRYPTED', 'CLIENT', 'CREATED BY', 'ID'];
  const rows = rooms.map((room) => [
    room.code,
    formatDuration(Date.now() - Date.parse(room.createdAt)),
    formatDuration(Date.parse(room.expiresAt) - Date.now()),
    formatBytes(room.fileBytes + room.textBytes),
    String(room.fileCount),
    String(room.deviceCount),
    room.encrypted ? 'yes' : 'no',
    room.clientHash ?? '-',
    room.createdBy ? `${room.createdBy.type} ${room.createdBy.name}` : '-',
    room.id,
  ]);
  return printableTable([head, ...rows]);
}

/** The id of a room is long, so it comes last. */
function reportTable(reports: readonly AdminReport[]): string {
  const rows = reports.map(({ id, code, reason, comment = '', createdAt, room }) => [
    id,
    minute(createdAt),
    code,
    reason,
    comment,
    room ?? 'ended',
  ]);
  return printableTable([['ID', 'TIME', 'ROOM', 'REASON', 'COMMENT', 'ROOM ID'], ...rows]);
}

function clientTable(clients: readonly AdminClient[]): string {
  const rows = clients.map(({ client, clientHash, ...traffic }) => [client, ...trafficCells(traffic), clientHash]);
  return printableTable([['CLIENT', ...trafficHead, 'HASH'], ...rows]);
}

function blockTable(blocks: readonly AdminBlock[]): string {
  const rows = blocks.map(({ id, range, reason, endsAt }) => [id, range, endsAt ? minute(endsAt) : 'never', reason]);
  return printableTable([['ID', 'RANGE', 'ENDS', 'REASON'], ...rows]);
}

function keyTable(keys: readonly AdminKey[]): string {
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
