/** `poproom webhook`: creates, lists and deletes the webhooks of a room. */
import type { NewWebhook, Room, WebhookEntry } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { UsageError } from '../errors.ts';
import { print, printable, printNotice, table } from '../output.ts';
import { readInputText } from '../prompt.ts';
import { withRoom } from '../server-context.ts';

export async function webhook(input: Input): Promise<void> {
  const [, url, ...rest] = input.args;
  const id = input.value('delete');
  if (rest.length > 0) throw new UsageError('Give one URL, or none to list the webhooks.');
  if (url !== undefined && id !== undefined) throw new UsageError('Use either a URL or --delete.');
  if (url === undefined && input.value('events') !== undefined) throw new UsageError('--events needs a URL.');
  if (id !== undefined) return withRoom(input, (room) => remove(input, room, id));
  if (url === undefined) return withRoom(input, (room) => list(input, room));
  const events = readEvents(input.value('events'));
  const created = { url: url === '-' ? (await readInputText()).trim() : url, ...(events && { events }) };
  return withRoom(input, (room) => create(input, room, created));
}

const known = ['text', 'file', 'device', 'room'] as const;
type Event = (typeof known)[number];

function readEvents(list: string | undefined): Event[] | undefined {
  const names = list?.split(',').map((name) => name.trim());
  const isEvent = (name: string): name is Event => known.includes(name as Event);
  if (!names || names.every(isEvent)) return names as Event[] | undefined;
  throw new UsageError(`--events takes ${known.join(', ')}, separated by commas.`);
}

async function create(input: Input, room: Room, webhook: NewWebhook): Promise<void> {
  const created = await room.createWebhook(webhook);
  const rows = [
    ['Id', printable(created.id)],
    ['Host', printable(created.host)],
    ['Events', created.events.join(', ')],
    ['Secret', printable(created.secret)],
  ];
  print(input, created, table(rows));
}

async function list(input: Input, room: Room): Promise<void> {
  const webhooks = await room.webhooks();
  const rows = [['ID', 'HOST', 'EVENTS', 'LAST DELIVERY', 'LAST ERROR'], ...webhooks.map(rowOf)];
  if (webhooks.length > 0 || input.isSet('json')) print(input, webhooks, table(rows));
  else printNotice('This room has no webhooks.');
}

function rowOf({ id, host, events, lastDelivery, lastError }: WebhookEntry): string[] {
  const error = lastError ? `${lastError.timestamp} ${printable(lastError.message)}` : '-';
  return [printable(id), printable(host), events.join(','), lastDelivery ?? '-', error];
}

async function remove(input: Input, room: Room, id: string): Promise<void> {
  const done = await room.deleteWebhook(id);
  print(input, done, printable(done.message));
}
