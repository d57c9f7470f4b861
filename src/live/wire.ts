/** A connection as sessions know it: no transport is named here or in what uses it. */
import type { ServerMessage } from '../protocol/types.ts';

/** A message that is made once and sent to many. */
export interface Outgoing {
  type: ServerMessage['type'];
  seq: number | undefined;
  /** JSON. Where there is a long text, without it. */
  text: string;
  /** In UTF-8, the long text included. */
  bytes: number;
  longText: LongText | undefined;
}

/** The text of a room as JSON. Different messages share these bytes: they would fill the memory otherwise. */
export interface LongText {
  json: Uint8Array;
  /** Where it belongs in the message, as an index of its text. */
  at: number;
}

export interface Wire {
  send(message: Outgoing): void;
  /** Bytes that were sent and that the other side has not taken yet. */
  backlog(): number;
  /** Asks the other side whether it is there, and what is said along with that, in one go. */
  ping(message: Outgoing | undefined): void;
  /** Whether it can answer; a one-way transport cannot. */
  readonly answersPings: boolean;
  close(code: number, reason: string): void;
}

export function outgoing(message: ServerMessage): Outgoing {
  const text = JSON.stringify(message);
  const seq = 'seq' in message ? message.seq : undefined;
  return { type: message.type, seq, text, bytes: Buffer.byteLength(text), longText: undefined };
}

/** In strings quotation marks are escaped, so this can only be the field. */
const emptyContent = '"content":""';

/** With a text in the place of the empty content that the message has. */
export function outgoingWith(message: ServerMessage, json: Uint8Array): Outgoing {
  const whole = outgoing(message);
  const found = whole.text.indexOf(emptyContent);
  if (found < 0) throw new Error(`The message has no empty content: ${message.type}`);
  const at = found + emptyContent.length - 2;
  const text = whole.text.slice(0, at) + whole.text.slice(at + 2);
  return { ...whole, text, bytes: whole.bytes - 2 + json.byteLength, longText: { json, at } };
}
