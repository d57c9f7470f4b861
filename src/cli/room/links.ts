/** `poproom link`, `links` and `unlink`: links with which others may only read a room, or only add files to it. */
import { type Link, type LinkId, PoproomError, parseLinkId, type Room } from '../../client/index.ts';
import { linkIdLength } from '../../protocol/room-code.ts';
import { type Input, readDuration } from '../command.ts';
import { UsageError } from '../errors.ts';
import { formatExpiry, localTime, print, printable, printDone, printList, table } from '../output.ts';
import { readRoom, withRoom } from '../server-context.ts';
import { linkRights } from './info.ts';
import { withLifetimeErrors, withQrCode } from './new.ts';

export async function createLink(input: Input): Promise<void> {
  if (input.isSet('read') === input.isSet('drop'))
    throw new UsageError('Use --read for a link that can only read, or --drop for one that can only add files.');
  const role = input.isSet('read') ? 'read' : 'drop';
  const [name, expires] = [input.value('name'), input.value('expires')];
  const lifetime = expires === undefined ? {} : { expiresIn: readDuration(expires) };
  const request = { role, ...(name && { name }), ...lifetime } as const;
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
  const rows = [['LINK', 'ROLE', 'EXPIRES', 'LAST USED', 'NAME'], ...links.map(rowOf)];
  printList(input, values, table(rows), 'This room has no links.');
}

const rowOf = ({ linkId, role, expiresAt, lastUsed, name = '' }: Link): string[] => [
  ...[printable(linkId), role, expiresAt === undefined ? 'with the room' : localTime(expiresAt)],
  ...[lastUsed === undefined ? 'never' : localTime(lastUsed), printable(name)],
];

/** On the server of the command, whatever a server says. The SDK adds the keys of an encrypted room. */
function urlOf(room: Room, { linkId, link = '' }: Link): string {
  const page = room.link.replace(/\/r\/[^/]*$/s, `/r/${encodeURIComponent(linkId)}`);
  return room.key === undefined ? page : `${page}${new URL(link).hash}`;
}
