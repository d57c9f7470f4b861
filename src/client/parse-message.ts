/** Parses and checks a message of the live channel. */
import type { ServerMessage } from '../protocol/types.ts';
import { invalidMessage } from './error.ts';
import { parseJson } from './json.ts';
import { isObject, messageShapes } from './shapes.ts';

/** Returns undefined for an unknown type, as from a newer server. Throws for anything malformed. */
export function parseMessage(data: string): ServerMessage | undefined {
  const message = parseJson(data);
  const type = isObject(message) && (message as Partial<ServerMessage>).type;
  if (typeof type !== 'string') throw invalidMessage('something that is not a message');
  const isValid = messageShapes.get(type);
  if (!isValid) return undefined;
  if (!isValid(message)) throw invalidMessage(`a malformed "${type}" message`);
  return message as ServerMessage;
}
