/** `poproom admin`: what operators see and do on a running server, over its admin API. */
import { PoproomError } from '../../client/index.ts';
import { createRetry } from '../../client/retry.ts';
import { createTimeouts } from '../../client/silence-limit.ts';
import { createTransport } from '../../client/transport.ts';
import type { AdminBlock, AdminClient, AdminKey, AdminNumbers, AdminReport, AdminRoom } from '../../protocol/types.ts';
import { type Input, readDuration } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import {
  countOf,
  formatBytes,
  formatDuration,
  formatJson,
  print,
  printable,
  printDone,
  printNotice,
  table,
} from '../output.ts';
import { askHidden, mustConfirm } from '../prompt.ts';
import { chooseNamedServer, explainOffline, timeoutOf } from '../server-context.ts';

/** `rooms` is the earlier name of `poproom rooms --admin`, which scripts may use. */
const usage =
  'Usage: poproom admin numbers | reveal ROOM | rm ROOM… | reports | dismiss ID… | clients | blocks | block RANGE --reason TEXT | unblock ID | keys | revoke ID';

type Action = (input: Input, call: AdminCall, names: readonly string[]) => Promise<void>;

export async function admin(input: Input): Promise<void> {
  const [name = '', ...names] = input.args;
  const [run, least = 0, most = 0] = Object.hasOwn(actions, name) && actions[name] ? actions[name] : [];
  if (!run || names.length < least || names.length > most) throw new UsageError(usage);
  await run(input, await connectAdmin(input), names);
}

/** The newest intervals. `--json` has all of them. */
const shownPoints = 24;

async function numbers(input: Input, call: AdminCall): Promise<void> {
  const found = await call<AdminNumbers>('GET', `/numbers${queryOf(input, ['hours'])}`, ['points']);
  const current = printableTable([
    ['Nodes', found.nodes],
    ['Rooms', found.rooms],
    ['Live channels', found.channels],
    ['Stored files', formatBytes(found.storedBytes)],
  ]);
  const head = ['SINCE', 'REQUESTS', 'REFUSED', 'FAILED', 'RECEIVED', 'SENT', 'NEW ROOMS', 'ROOMS', 'CHANNELS'];
  const rows = found.points.slice(-shownPoints).map((point) => {
    const { at, requests, refused, failed, received, sent, roomsCreated, rooms, channels } = point;
    const traffic = [requests, refused, failed, formatBytes(received), formatBytes(sent)];
    return [minute(at), ...traffic, roomsCreated, rooms, channels];
  });
  print(input, found, `${current}\n\n${printableTable([head, ...rows])}`);
}

async function reveal(input: Input, call: AdminCall, [room = '']: readonly string[]): Promise<void> {
  const found = await call<{ roomId: string }>('POST', `/rooms/${roomIn(room)}/reveal`, ['roomId']);
  print(input, found, printable(found.roomId));
}

async function remove(input: Input, call: AdminCall, names: readonly string[]): Promise<void> {
  await mustConfirm(input, `Delete ${countOf(names.length, 'room')} for everyone?`);
  for (const name of names) printDone(input, await call('DELETE', `/rooms/${roomIn(name)}`, ['message']));
}

async function dismiss(input: Input, call: AdminCall, ids: readonly string[]): Promise<void> {
  for (const id of ids) printDone(input, await call('DELETE', `/reports/${encodeURIComponent(id)}`, ['message']));
}

async function block(input: Input, call: AdminCall, [range = '']: readonly string[]): Promise<void> {
  const [reason, expires] = [input.value('reason'), input.value('expires')];
  if (!reason) throw new UsageError('Why is this range blocked? Give a note for operators with --reason.');
  const end = expires === undefined ? {} : { expiresIn: readDuration(expires) };
  const json = { range, reason, ...end, ...(input.isSet('force') && { force: true }) };
  const made = await call<AdminBlock>('POST', '/blocks', ['id', 'range'], json);
  print(input, made, `Blocked ${printable(made.range)} (${printable(made.id)}).`);
}

/** Accepts the range of a block, too. */
async function unblock(input: Input, call: AdminCall, [name = '']: readonly string[]): Promise<void> {
  const { blocks: all } = await call<{ blocks: AdminBlock[] }>('GET', '/blocks', ['blocks']);
  const found = all.find(({ id, range }) => [id, range, range.replace(/\/(32|128)$/, '')].includes(name));
  if (!found) throw new UsageError(`There is no block "${name}"; "poproom admin blocks" lists all.`);
  const done = await call('DELETE', `/blocks/${encodeURIComponent(found.id)}`, ['message']);
  print(input, done, `Unblocked ${printable(found.range)}.`);
}

async function revoke(input: Input, call: AdminCall, [id = '']: readonly string[]): Promise<void> {
  if (!/^[0-9a-f]{10}$/.test(id)) throw new UsageError('Which key? Give its ID from "poproom admin keys".');
  await mustConfirm(input, 'Revoke this key? This cannot be undone.');
  const revoked = await call<AdminKey>('DELETE', `/keys/${id}`, ['id', 'name']);
  print(input, revoked, `Revoked the key "${printable(revoked.name)}" (${printable(revoked.id)}).`);
}

interface Listed<Item> {
  /** That the API has for it. */
  options: readonly string[];
  head: readonly string[];
  rowOf(item: Item): Row;
}

/** `name` is the list in the API, in the plural: its path, and its field in the response. */
const list =
  <Item>(name: string, { options, head, rowOf }: Listed<Item>): Action =>
  async (input, call) => {
    const found = await call<Record<string, unknown>>('GET', `/${name}${queryOf(input, options)}`, [name]);
    const items = found[name] as Item[];
    // All blocks are in one response, which does not count them.
    const total = name === 'blocks' ? items.length : Number(found.total);
    if (input.isSet('json')) return console.log(formatJson({ ...found, total }));
    if (items.length > 0) console.log(printableTable([head, ...items.map(rowOf)]));
    const shown = items.length < total ? ` Showing ${items.length}; see --limit and --offset.` : '';
    printNotice(`${countOf(total, name.slice(0, -1))}.${shown}`);
  };

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

const trafficHead = ['REQUESTS', 'REFUSED', 'RECEIVED', 'SENT'];

const trafficCells = ({ requests, refused, received, sent }: Omit<AdminClient, 'client' | 'clientHash'>): Row => [
  ...[requests, refused, formatBytes(received), formatBytes(sent)],
];

type Row = readonly (string | number)[];

/** Ids are long, so they come last. */
const rooms = list<AdminRoom>('rooms', {
  options: ['sort', 'client', 'limit', 'offset'],
  head: ['ROOM', 'AGE', 'EXPIRES IN', 'SIZE', 'FILES', 'DEVICES', 'ENCRYPTED', 'CLIENT', 'CREATED BY', 'ID'],
  rowOf: (room) => [
    room.code,
    formatDuration(Date.now() - Date.parse(room.createdAt)),
    formatDuration(Date.parse(room.expiresAt) - Date.now()),
    formatBytes(room.fileBytes + room.textBytes),
    ...[room.fileCount, room.deviceCount, room.encrypted ? 'yes' : 'no', room.clientHash ?? '-'],
    room.createdBy ? `${room.createdBy.type} ${room.createdBy.name}` : '-',
    room.id,
  ],
});

const reports = list<AdminReport>('reports', {
  options: ['limit', 'offset'],
  head: ['ID', 'TIME', 'ROOM', 'REASON', 'COMMENT', 'ROOM ID'],
  rowOf: ({ id, code, reason, comment = '', createdAt, room = 'ended' }) => {
    return [id, minute(createdAt), code, reason, comment, room];
  },
});

const clients = list<AdminClient>('clients', {
  options: ['sort', 'hours', 'limit', 'offset'],
  head: ['CLIENT', ...trafficHead, 'HASH'],
  rowOf: ({ client, clientHash, ...traffic }) => [client, ...trafficCells(traffic), clientHash],
});

const blocks = list<AdminBlock>('blocks', {
  options: [],
  head: ['ID', 'RANGE', 'ENDS', 'REASON'],
  rowOf: ({ id, range, reason, endsAt }) => [id, range, endsAt ? minute(endsAt) : 'never', reason],
});

const keys = list<AdminKey>('keys', {
  options: ['limit', 'offset'],
  head: ['ID', 'NAME', 'TIER', 'STATE', ...trafficHead, 'LAST USED'],
  rowOf: ({ id, name, tier, revokedAt, lastUsedAt, ...traffic }) => {
    const state = revokedAt ? 'revoked' : 'active';
    return [id, name, tier, state, ...trafficCells(traffic), lastUsedAt ? minute(lastUsedAt) : 'never'];
  },
});

/** Actions with the number of arguments that each takes. */
const actions: Record<string, readonly [run: Action, least: number, most: number]> = {
  numbers: [numbers, 0, 0],
  rooms: [rooms, 0, 0],
  reveal: [reveal, 1, 1],
  rm: [remove, 1, Number.POSITIVE_INFINITY],
  reports: [reports, 0, 0],
  dismiss: [dismiss, 1, Number.POSITIVE_INFINITY],
  clients: [clients, 0, 0],
  blocks: [blocks, 0, 0],
  block: [block, 1, 1],
  unblock: [unblock, 1, 1],
  keys: [keys, 0, 0],
  revoke: [revoke, 1, 1],
};

const printableTable = (rows: readonly Row[]) => table(rows.map((row) => row.map((cell) => printable(String(cell)))));

/** Such as "2026-11-15 09:30Z". */
const minute = (timestamp: string) => `${timestamp.slice(0, 16).replace('T', ' ')}Z`;

/** Sends a request with the admin token. `fields` are those that the response must have. */
type AdminCall = Awaited<ReturnType<typeof connectAdmin>>;

async function connectAdmin(input: Input) {
  const environment = readEnvironment();
  const url = chooseNamedServer(environment, input.value('url'));
  const token = environment.adminToken ?? (await askHidden(`Admin token of ${url}: `));
  if (!token) throw new UsageError('Set POPROOM_ADMIN_TOKEN to the admin token of the server.');
  const withRetry = createRetry({ attempts: 3, maxSeconds: 5 });
  const timeouts = createTimeouts(timeoutOf(input, environment) ?? 0);
  const transport = createTransport({ url, apiKey: token, withRetry, timeouts });

  return async <T extends object = { message: string }>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    fields: readonly (keyof T)[],
    json?: object,
  ): Promise<T> => {
    const hasFields = (body: unknown): body is T =>
      typeof body === 'object' && body !== null && fields.every((field) => field in body);
    try {
      return await transport.call(`/api/admin${path}`, hasFields, { method, ...(json && { json }) });
    } catch (error) {
      throw error instanceof PoproomError ? explainError(error, transport.url) : error;
    }
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
