/** A connection as sessions know it: no transport is named here or in what uses it. */
import type { ServerMessage } from '../protocol/types.ts';

/** A message in both of its forms; made once, sent to many. */
export interface Outgoing {
  type: ServerMessage['type'];
  seq: number | undefined;
  text: string;
  /** Of the text, in UTF-8. */
  bytes: number;
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
  return { type: message.type, seq: 'seq' in message ? message.seq : undefined, text, bytes: Buffer.byteLength(text) };
}
