/** The commands that show a room, change it, share links to it, and delete it or its files. */
import {
  type FileEntry,
  type Link,
  type LinkId,
  PoproomError,
  parseLinkId,
  type Room,
  type RoomDetails,
  type RoomInfo,
  type UpdateRoomRequest,
  type WebhookEntry,
} from '../../client/index.ts';
import { linkIdLength } from '../../protocol/room-code.ts';
import { formatColumns, type Input, readDuration } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { formatBytes, formatExpiry, localTime, print, printable, printDone, printList, table } from '../output.ts';
import { choosePin, mustConfirm, newPinFromEnvironment, readInputText } from '../prompt.ts';
import { readRoom, withRoom } from '../server-context.ts';
import { readLifetime, withLifetimeErrors, withQrCode } from './new.ts';
import { findFile, formatSize, pathInRoom } from './room-files.ts';

export async function info(input: Input): Promise<void> {
  await withRoom(input, async (room, memory) => {
    const { text, files, ...details } = await readDetails(room);
    const { role, name, expiresAt } = details;
    memory.learn({ expiresAt, name });
    // A script may write its output to a log, so only people see the key in the link.
    const link = process.stdout.isTTY ? room.link : room.link.replace(/#.*/, '');
    const rows: Rows = [['link', link]];
    if (name !== undefined) rows.unshift(['name', printable(name)]);
    if (role) rows.push(['access', linkRights[role]]);
    else rows.unshift(['room', printable(details.roomId)]);
    rows.push(['time left', timeLeft(details)]);
    // A link needs no PIN, and its holder does not learn whether there is one.
    if (details.encrypted) rows.push(['encrypted', 'yes']);
    else if (!role) rows.push(['PIN', details.hasPin ? 'yes' : 'no']);
    if (text && files) rows.push(...contentRows(details, text, files));
    print(input, { ...details, link, text, files }, formatColumns(rows));
  });
}

/** In words, for the holder of a link. */
const linkRights = { read: 'can read the text and the files', drop: 'can add files, and see nothing' } as const;

type Rows = [string, string][];

type Content = Required<Pick<RoomDetails, 'text' | 'files'>>;

function contentRows(details: RoomInfo, text: Content['text'], files: Content['files']): Rows {
  return [
    ['devices', printable(String(details.deviceCount))],
    ['text', text.version === 0 ? 'none yet' : `${formatBytes(text.bytes)}, version ${text.version}`],
    ['files', formatUsage(details, files.length)],
    ...files.map((file): [string, string] => ['', `${printable(pathInRoom(file))}  ${formatSize(file)}`]),
  ];
}

function timeLeft({ expiresAt, extend }: RoomInfo): string {
  const left = formatExpiry(expiresAt).replace('expires in ', '');
  return extend ? `${left}, extended with each change` : left;
}

/** Takes one request, or three with an older server. The holder of a drop link does not see the text and the files. */
async function readDetails(room: Room): Promise<Partial<Content> & RoomInfo> {
  const { text, files, ...details } = (await room.details().catch((error) => {
    if (error instanceof PoproomError && error.code === 'DROP_ONLY') return room.info();
    throw error;
  })) as RoomDetails;
  if (details.role === 'drop') return details;
  if (text && files) return { ...details, text, files };
  const [{ content, version, timestamp }, listed] = await Promise.all([room.read(), room.files()]);
  return { ...details, text: { bytes: Buffer.byteLength(content), version, timestamp }, files: listed };
}

/** Such as "3 of 100, 1.2 MiB of 100 MiB, up to 10 MiB each". An older server does not state its limits. */
function formatUsage({ limits, fileCount, fileBytes }: Partial<RoomInfo>, listed: number): string {
  if (!limits) return listed === 0 ? 'none' : String(listed);
  return [
    `${fileCount ?? listed} of ${limits.filesPerRoom}`,
    `${formatBytes(fileBytes ?? 0)} of ${formatBytes(limits.fileBytesPerRoom)}`,
    `up to ${formatBytes(limits.fileBytes)} each`,
  ].join(', ');
}

export async function set(input: Input): Promise<void> {
  const changes = readChanges(input);
  let newPin = input.isSet('new-pin') ? newPinFromEnvironment(readEnvironment()) : undefined;
  await withRoom(input, async (room, memory) => {
    if (input.isSet('new-pin') && newPin === undefined) {
      // Prompts for the current PIN first if it is needed, so that nobody chooses a new one in vain.
      await room.info();
      newPin = await choosePin('New PIN', 'the room was not changed', 'POPROOM_NEW_PIN');
    }
    const update = { ...changes, ...(newPin !== undefined && { pin: newPin }) };
    const details = await withLifetimeErrors(() => room.update(update));
    memory.learn({ expiresAt: details.expiresAt, name: details.name });
    print(input, { ...details, link: room.link }, summarize(details));
  });
}

function readChanges(input: Input): UpdateRoomRequest {
  const [expires, name] = [input.value('expires'), input.value('name')];
  const { isSet } = input;
  if (isSet('new-pin') && isSet('no-pin')) throw new UsageError('Use either --new-pin or --no-pin.');
  if (isSet('extend') && isSet('no-extend')) throw new UsageError('Use either --extend or --no-extend.');
  const flags = ['new-pin', 'no-pin', 'extend', 'no-extend'];
  if (expires === undefined && name === undefined && !flags.some(isSet))
    throw new UsageError('What should change? Use --expires, --extend, --no-extend, --name, --new-pin or --no-pin.');
  return {
    ...(expires !== undefined && { expiresIn: readDuration(expires) }),
    ...(isSet('extend') && { extend: true }),
    ...(isSet('no-extend') && { extend: false }),
    ...(name !== undefined && { name }),
    ...(isSet('no-pin') && { pin: null }),
  };
}

function summarize({ roomId, name, expiresAt, hasPin }: RoomInfo): string {
  const title = name === undefined ? printable(roomId) : `${printable(roomId)} (${printable(name)})`;
  return `${title} ${formatExpiry(expiresAt)}${hasPin ? ', protected by a PIN' : ''}`;
}

export async function createLink(input: Input): Promise<void> {
  if (input.isSet('read') === input.isSet('drop'))
    throw new UsageError('Use --read for a link that can only read, or --drop for one that can only add files.');
  const role = input.isSet('read') ? 'read' : 'drop';
  const name = input.value('name');
  const request = { role, ...(name && { name }), ...readLifetime(input) } as const;
  await withRoom(input, async (room) => {
    await printLink(input, room, await withLifetimeErrors(() => room.createLink(request)));
  });
}

export async function listLinks(input: Input): Promise<void> {
  const [, wanted, ...rest] = input.args;
  if (rest.length > 0) throw new UsageError('Give one link, or none to list them all.');
  const id = wanted === undefined ? undefined : await readLink(wanted);
  await withRoom(input, async (room) => {
    const links = await room.links();
    if (id === undefined) return printLinks(input, room, links);
    const found = links.find(({ linkId }) => linkId === id);
    if (!found) throw new PoproomError('NOT_FOUND', 'This room has no such link.', { details: { field: 'linkId' } });
    await printLink(input, room, found);
  });
}

export async function revokeLink(input: Input): Promise<void> {
  const [, wanted, ...rest] = input.args;
  if (wanted === undefined || rest.length > 0)
    throw new UsageError('Which link? Give a room code and one link from "poproom links".');
  const id = await readLink(wanted);
  printDone(input, await withRoom(input, (room) => room.revokeLink(id)));
}

/** Reads the id of a link, or its URL. */
async function readLink(text: string): Promise<LinkId> {
  const id = text.length < linkIdLength ? undefined : parseLinkId((await readRoom(text)).code);
  if (!id) throw new UsageError(`"${text}" is not a link; give one from "poproom links".`);
  return id;
}

/** In a pipe, only the URL. With the keys, because a link to an encrypted room is of no use without them. */
async function printLink(input: Input, room: Room, link: Link): Promise<void> {
  const url = urlOf(room, link);
  const isTerminal = process.stdout.isTTY && !input.isSet('json');
  const rows = (shown: string) => [
    ...(link.name === undefined ? [] : [printable(link.name)]),
    shown,
    `${linkRights[link.role]}, ${link.expiresAt === undefined ? 'until the room ends' : formatExpiry(link.expiresAt)}`,
  ];
  print(input, { ...link, link: url }, isTerminal ? await withQrCode(input, url, rows) : url);
}

/** A script may write the list to a log, so only people see the keys. */
function printLinks(input: Input, room: Room, links: readonly Link[]): void {
  const shown = (link: Link) => (process.stdout.isTTY ? urlOf(room, link) : urlOf(room, link).replace(/#.*/s, ''));
  const values = links.map((link) => ({ ...link, link: shown(link) }));
  const rows = [['LINK', 'ROLE', 'EXPIRES', 'LAST USED', 'NAME'], ...links.map(linkRow)];
  printList(input, values, table(rows), 'This room has no links.');
}

const linkRow = ({ linkId, role, expiresAt, lastUsed, name = '' }: Link): string[] => [
  ...[printable(linkId), role, expiresAt === undefined ? 'with the room' : localTime(expiresAt)],
  ...[lastUsed === undefined ? 'never' : localTime(lastUsed), printable(name)],
];

/** On the server of the command, whatever a server says. The SDK adds the keys of an encrypted room. */
function urlOf(room: Room, { linkId, link = '' }: Link): string {
  const page = room.link.replace(/\/r\/[^/]*$/s, `/r/${encodeURIComponent(linkId)}`);
  return room.key === undefined ? page : `${page}${new URL(link).hash}`;
}

export async function webhook(input: Input): Promise<void> {
  const [, url, ...rest] = input.args;
  const id = input.value('delete');
  if (rest.length > 0) throw new UsageError('Give one URL, or none to list the webhooks.');
  if (url !== undefined && id !== undefined) throw new UsageError('Use either a URL or --delete.');
  if (url === undefined && input.value('events') !== undefined) throw new UsageError('--events needs a URL.');
  if (id !== undefined) return printDone(input, await withRoom(input, (room) => room.deleteWebhook(id)));
  if (url === undefined) return listWebhooks(input, await withRoom(input, (room) => room.webhooks()));
  const events = readEvents(input.value('events'));
  const webhook = { url: url === '-' ? (await readInputText()).trim() : url, ...(events && { events }) };
  const created = await withRoom(input, (room) => room.createWebhook(webhook));
  const rows = [
    ['Id', printable(created.id)],
    ['Host', printable(created.host)],
    ['Events', created.events.join(', ')],
    ['Secret', printable(created.secret)],
  ];
  print(input, created, table(rows));
}

const eventNames = ['text', 'file', 'device', 'room'] as const;
type Event = (typeof eventNames)[number];

function readEvents(list: string | undefined): Event[] | undefined {
  const names = list?.split(',').map((name) => name.trim());
  const isEvent = (name: string): name is Event => eventNames.includes(name as Event);
  if (!names || names.every(isEvent)) return names as Event[] | undefined;
  throw new UsageError(`--events takes ${eventNames.join(', ')}, separated by commas.`);
}

function listWebhooks(input: Input, webhooks: readonly WebhookEntry[]): void {
  const rows = webhooks.map(({ id, host, events, lastDelivery, lastError }) => {
    const error = lastError ? `${lastError.timestamp} ${printable(lastError.message)}` : '-';
    return [printable(id), printable(host), events.join(','), lastDelivery ?? '-', error];
  });
  const head = ['ID', 'HOST', 'EVENTS', 'LAST DELIVERY', 'LAST ERROR'];
  printList(input, webhooks, table([head, ...rows]), 'This room has no webhooks.');
}

export async function remove(input: Input): Promise<void> {
  const [, ...names] = input.args;
  if (input.isSet('undo')) return restoreFiles(input, names);
  if (names.length > 0) return removeFiles(input, names);
  const done = await withRoom(input, async (room, memory) => {
    // Fails before the prompt if the room does not exist.
    await mustConfirm(input, `Delete room ${room.code} for everyone?`, () => room.info());
    const removed = await room.delete();
    memory.forget();
    return removed;
  });
  printDone(input, done);
}

async function removeFiles(input: Input, names: readonly string[]): Promise<void> {
  const removed = await withRoom(input, async (room) => {
    const all = await room.files();
    const files = names.map((name) => findFile(all, name));
    for (const { fileId } of files) await room.removeFile(fileId);
    return files;
  });
  const fileIds = removed.map(({ fileId }) => fileId);
  printDone(input, { success: true, message: `Removed ${quoted(removed)}.`, fileIds });
  if (!input.isSet('json')) console.error(undoHint(input, fileIds));
}

async function restoreFiles(input: Input, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) throw new UsageError('Which files? Give the ids that "poproom rm" printed.');
  const restored = await withRoom(input, async (room) => {
    for (const fileId of fileIds) await room.restoreFile(fileId);
    return (await room.files()).filter(({ fileId }) => fileIds.includes(fileId));
  });
  printDone(input, { success: true, message: `Restored ${quoted(restored)}.`, fileIds });
}

const quoted = (files: readonly FileEntry[]) => files.map((file) => `"${printable(pathInRoom(file))}"`).join(', ');

/** Names the room and the server as the user did. */
function undoHint(input: Input, fileIds: readonly string[]): string {
  const [room = ''] = input.args;
  const url = input.value('url');
  const line = ['poproom rm', room, ...(url === undefined ? [] : ['--url', url]), '--undo', ...fileIds].join(' ');
  return printable(`Undo within 60 seconds: ${line}`);
}
