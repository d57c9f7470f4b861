/** The events of a live channel. */
import type { SealedEdited, ServerMessage, TextEdited } from '../protocol/types.ts';
import type { PoproomError } from './error.ts';

/** A message about a change of the room. */
export type Change = Exclude<
  ServerMessage,
  { type: 'edit' | 'sealed-edit' | 'written' | 'conflict' | 'error' | 'heartbeat' | 'closed' }
>;

/** A change of the room, or of the connection. */
export type LiveEvent =
  | Change
  | { type: 'connecting' }
  | { type: 'connected' }
  /** Not connected because of `error`. The next attempt is at `until`. */
  | { type: 'waiting'; until: Date; error: PoproomError };

/** Why the live channel ended: the room was deleted or has expired, or the program left it. */
export type Ended = 'deleted' | 'expired' | 'left';

const replies: ReadonlySet<ServerMessage['type']> = new Set(['written', 'conflict', 'error', 'heartbeat', 'closed']);

/** Whether the message is one that only admitted sessions receive. */
export function isAdmission(message: ServerMessage): message is Change | TextEdited | SealedEdited {
  return !replies.has(message.type);
}

/** Edits go only to the shared text. */
export function isChange(message: ServerMessage): message is Change {
  return isAdmission(message) && message.type !== 'edit' && message.type !== 'sealed-edit';
}
