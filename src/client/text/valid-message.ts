/** Whether a message about the text has the form that the protocol says: a server is not trusted with this program. */
import type { ServerMessage } from '../../protocol/types.ts';
import { isObject } from '../error.ts';

export function isValidTextMessage(message: ServerMessage): boolean {
  switch (message.type) {
    case 'snapshot':
      return isText(message.content);
    case 'content':
      return isText(message);
    case 'edit':
      return isVersion(message.version) && typeof message.timestamp === 'string' && areEdits(message.edits);
    case 'written':
      return isVersion(message.version) && typeof message.timestamp === 'string';
    case 'error':
      return isObject(message.error);
    default:
      return true;
  }
}

function isText(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { content, version, timestamp } = value as Record<string, unknown>;
  return typeof content === 'string' && content.isWellFormed() && isVersion(version) && typeof timestamp === 'string';
}

const isVersion = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** In ascending order; whether they are within the text is found out when they are applied. */
function areEdits(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  let end = 0;
  return value.every((edit: unknown) => {
    if (!isObject(edit)) return false;
    const { from, to, insert } = edit as Record<string, unknown>;
    const isRange = Number.isSafeInteger(from) && Number.isSafeInteger(to) && end <= (from as number);
    end = to as number;
    return isRange && (from as number) <= end && typeof insert === 'string' && insert.isWellFormed();
  });
}
