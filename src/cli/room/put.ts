/** `poproom put`: replaces the text of a room. */
import type { Input } from '../command.ts';
import { print } from '../output.ts';
import { isPiped, readInputText } from '../standard-input.ts';
import { UsageError } from '../usage-error.ts';
import { inRoom } from '../visit.ts';

export async function put(input: Input): Promise<void> {
  const [, text, ...rest] = input.args;
  if (rest.length > 0) throw new UsageError('Put the text into quotes, so that it is one argument.');
  const baseVersion = readVersion(input.value('base-version'));
  const content = text === undefined || text === '-' ? await typedOrPiped(text === '-') : text;
  const { version, timestamp } = await inRoom(input, (room) => room.write(content, { baseVersion }));
  if (input.isSet('json')) print(input, { version, timestamp }, '');
}

function typedOrPiped(isAskedFor: boolean): Promise<string> {
  if (!isAskedFor && !isPiped()) throw new UsageError('Which text? Say it in quotes, or pipe it in.');
  return readInputText();
}

function readVersion(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,15}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError(`"${text}" is no version; one is a whole number, as "poproom get --json" tells it.`);
}
