/** `poproom admin`: what operators see and do on a running server, over its admin API. */
import type {
  AdminBlock,
  AdminBlockList,
  AdminClientList,
  AdminKey,
  AdminKeyList,
  AdminNumbers,
  AdminRoomList,
  AdminRoomRevealed,
  Confirmation,
} from '../../protocol/types.ts';
import type { Input } from '../command.ts';
import { countOf } from '../counts.ts';
import { readDuration } from '../duration.ts';
import { ExitError } from '../failure.ts';
import { formatJson, print, printNotice } from '../output.ts';
import { printable } from '../printable.ts';
import { confirm } from '../question.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminApi, connectAdmin } from './admin/api.ts';
import { blockTable, clientTable, keyTable, numbersTable, roomTable } from './admin/tables.ts';

const usage =
  'Usage: poproom admin numbers | rooms | reveal ROOM | rm ROOM… | clients | blocks | block RANGE --reason TEXT | unblock ID | keys | revoke ID';

type Action = (input: Input, api: AdminApi, names: readonly string[]) => Promise<void>;

/** With the number of arguments that each action takes. */
const actions: Record<string, { run: Action; least: number; most: number }> = {
  numbers: { run: numbers, least: 0, most: 0 },
  rooms: { run: rooms, least: 0, most: 0 },
  reveal: { run: reveal, least: 1, most: 1 },
  rm: { run: remove, least: 1, most: Number.POSITIVE_INFINITY },
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

async function mustConfirm(input: Input, question: string): Promise<void> {
  if (!process.stdin.isTTY || input.isSet('yes')) return;
  if (!(await confirm(question))) throw new ExitError(1);
}
