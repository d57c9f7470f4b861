/** The connection of a session, independent of the transport. */
import { PoproomError } from '../core/errors.ts';
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { ServerMessage } from '../protocol/types.ts';

/** A message that is encoded once and sent to many sessions. */
export interface Outgoing {
  type: ServerMessage['type'];
  seq: number | undefined;
  /** JSON, without the long text if there is one. */
  text: string;
  /** The size in UTF-8, including the long text. */
  bytes: number;
  longText: LongText | undefined;
  /** When to reconnect, in milliseconds, for transports that do so themselves. */
  retry?: number | undefined;
}

/** The text of a room as JSON. Messages share these bytes to save memory. */
interface LongText {
  json: Uint8Array;
  /** Its position in the message, as an index of `text`. */
  at: number;
}

interface ErrorMessage {
  type: 'error';
  error: { code: ErrorCode; message: string; details?: Record<string, unknown> };
}

export interface Wire {
  send(message: Outgoing): void;
  /** Bytes that were sent but not yet read by the peer. */
  backlog(): number;
  /** Sends a ping and an optional message in one write. */
  ping(message: Outgoing | undefined): void;
  /** Whether the peer can respond. A one-way transport cannot. */
  readonly answersPings: boolean;
  close(code: number, reason: string): void;
}

export function outgoing(message: ServerMessage): Outgoing {
  const text = JSON.stringify(message);
  const seq = 'seq' in message ? message.seq : undefined;
  const retry = message.type === 'closed' ? message.reconnectAfter : undefined;
  return { type: message.type, seq, text, bytes: Buffer.byteLength(text), longText: undefined, retry };
}

/** The message for an error. Clients do not receive details of unexpected ones. */
export function errorMessageOf(error: unknown): ErrorMessage {
  const known =
    error instanceof PoproomError ? error : new PoproomError('INTERNAL', 'Something went wrong on the server.');
  const { code, message, details } = known;
  return { type: 'error', error: { code, message, ...(details && { details }) } };
}

/** Strings escape quotation marks, so this can only be the field. */
const emptyContent = '"content":""';

/** Inserts a text in place of the empty content. */
export function outgoingWith(message: ServerMessage, json: Uint8Array): Outgoing {
  const whole = outgoing(message);
  const found = whole.text.indexOf(emptyContent);
  if (found < 0) throw new Error(`The message has no empty content: ${message.type}`);
  const at = found + emptyContent.length - 2;
  const text = whole.text.slice(0, at) + whole.text.slice(at + 2);
  return { ...whole, text, bytes: whole.bytes - 2 + json.byteLength, longText: { json, at } };
}
