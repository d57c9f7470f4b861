/** `poproom put`: replaces the text of a room, or appends to it. */
import type { Room } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { print } from '../output.ts';
import { withRoom } from '../server-context.ts';
import { isPiped, readInputText } from '../standard-input.ts';
import { UsageError } from '../usage-error.ts';
import { readVersion } from '../version-argument.ts';

export async function put(input: Input): Promise<void> {
  const [, text, ...rest] = input.args;
  if (rest.length > 0) throw new UsageError('Put the text in quotes, so that it is a single argument.');
  const store = readAction(input);
  const content = text === undefined || text === '-' ? await readStandardInput(text === '-') : text;
  const { version, timestamp } = await withRoom(input, (room) => store(room, content));
  if (input.isSet('json')) print(input, { version, timestamp }, '');
}

type Store = (room: Room, content: string) => Promise<{ version: number; timestamp: string }>;

function readAction(input: Input): Store {
  const base = input.value('base-version');
  if (input.isSet('append')) {
    if (base !== undefined)
      throw new UsageError('Use either --append or --base-version: appending overwrites nothing.');
    return (room, content) => room.append(content);
  }
  const baseVersion = base === undefined ? undefined : readVersion(base, 'poproom get --json');
  return (room, content) => room.write(content, { baseVersion });
}

function readStandardInput(isRequested: boolean): Promise<string> {
  if (!isRequested && !isPiped()) throw new UsageError('Which text? Give it in quotes, or pipe it in.');
  return readInputText();
}
