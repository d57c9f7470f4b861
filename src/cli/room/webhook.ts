/** `poproom webhook`: creates, lists and deletes the webhooks of a room. */
import type { WebhookEntry } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { UsageError } from '../errors.ts';
import { print, printable, printDone, printList, table } from '../output.ts';
import { readInputText } from '../prompt.ts';
import { withRoom } from '../server-context.ts';

export async function webhook(input: Input): Promise<void> {
  const [, url, ...rest] = input.args;
  const id = input.value('delete');
  if (rest.length > 0) throw new UsageError('Give one URL, or none to list the webhooks.');
  if (url !== undefined && id !== undefined) throw new UsageError('Use either a URL or --delete.');
  if (url === undefined && input.value('events') !== undefined) throw new UsageError('--events needs a URL.');
  if (id !== undefined) return printDone(input, await withRoom(input, (room) => room.deleteWebhook(id)));
  if (url === undefined) return list(input, await withRoom(input, (room) => room.webhooks()));
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

const known = ['text', 'file', 'device', 'room'] as const;
type Event = (typeof known)[number];

function readEvents(list: string | undefined): Event[] | undefined {
  const names = list?.split(',').map((name) => name.trim());
  const isEvent = (name: string): name is Event => known.includes(name as Event);
  if (!names || names.every(isEvent)) return names as Event[] | undefined;
  throw new UsageError(`--events takes ${known.join(', ')}, separated by commas.`);
}

function list(input: Input, webhooks: readonly WebhookEntry[]): void {
  const rows = webhooks.map(({ id, host, events, lastDelivery, lastError }) => {
    const error = lastError ? `${lastError.timestamp} ${printable(lastError.message)}` : '-';
    return [printable(id), printable(host), events.join(','), lastDelivery ?? '-', error];
  });
  const head = ['ID', 'HOST', 'EVENTS', 'LAST DELIVERY', 'LAST ERROR'];
  printList(input, webhooks, table([head, ...rows]), 'This room has no webhooks.');
}
