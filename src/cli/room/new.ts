/** `poproom new`: makes a room. */
import type { Client, CreatedRoom, CreateRoomRequest } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { readDuration, sayDuration } from '../duration.ts';
import { print } from '../output.ts';
import { givenPin, mustAskPin } from '../pin.ts';
import { isPin, pinArgumentRefused } from '../pin-argument.ts';
import { printable } from '../printable.ts';
import { atServer } from '../server-context.ts';
import { isPiped, readInputText } from '../standard-input.ts';
import { UsageError } from '../usage-error.ts';

export async function makeRoom(input: Input): Promise<void> {
  const [unwanted] = input.args;
  if (unwanted !== undefined) throw new UsageError(whyNot(unwanted));
  const expires = input.value('expires');
  const expiresIn = expires === undefined ? {} : { expiresIn: readDuration(expires) };
  const text = isPiped() ? await readInputText() : '';
  const room = await atServer(input, async (client, environment) => {
    const pin = input.isSet('pin') ? { pin: givenPin(environment) ?? (await choosePin()) } : {};
    const history = input.isSet('no-history') ? { history: false } : {};
    return furnished(client, { ...expiresIn, ...pin, ...history }, text);
  });
  const { code, link, expiresAt, hasPin } = room;
  print(
    input,
    { roomId: code, link, expiresAt, hasPin },
    process.stdout.isTTY ? await invitation(room) : printable(code),
  );
}

/** With its text or not at all: nobody knows the code of a room that stayed without. */
async function furnished(client: Client, request: CreateRoomRequest, text: string): Promise<CreatedRoom> {
  const room = await client.createRoom(request);
  try {
    if (text !== '') await room.write(text);
    return room;
  } catch (error) {
    await room.delete().catch(() => undefined);
    throw error;
  }
}

function whyNot(unwanted: string): string {
  if (isPin(unwanted)) return pinArgumentRefused;
  return `"poproom new" takes no "${unwanted}"; the text of the room comes on standard input.`;
}

async function choosePin(): Promise<string> {
  const pin = await mustAskPin('PIN for the new room, four digits: ');
  if (pin === (await mustAskPin('Once more: '))) return pin;
  throw new UsageError('These were two different PINs; no room was made.');
}

async function invitation({ code, link, expiresAt, hasPin }: CreatedRoom): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  const left = sayDuration(Date.parse(expiresAt) - Date.now());
  const rows = [printable(code), link, `for ${left}${hasPin ? ', with a PIN' : ''}`];
  return `\n${indented(rows.join('\n'))}\n\n${indented(renderUnicodeCompact(link, { border: 1 }))}\n`;
}

const indented = (text: string) => text.replaceAll(/^/gm, '  ');
