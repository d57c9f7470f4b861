/** A message of the live channel, checked before anything else sees it. */
import type { ServerMessage } from '../protocol/types.ts';
import { invalidMessage } from './error.ts';
import { parseJson } from './json.ts';
import { isObject, messageShapes } from './shapes.ts';

/** Undefined for a type that only a newer server knows. Throws for anything but a message. */
export function parseMessage(data: string): ServerMessage | undefined {
  const message = parseJson(data);
  const type = isObject(message) && (message as Partial<ServerMessage>).type;
  if (typeof type !== 'string') throw invalidMessage('something that is not a message');
  const isValid = messageShapes.get(type);
  if (!isValid) return undefined;
  if (!isValid(message)) throw invalidMessage(`a malformed "${type}" message`);
  return message as ServerMessage;
}
