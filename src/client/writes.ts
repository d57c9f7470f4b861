/** Writes that were sent and are not answered yet. */
import type { ServerMessage } from '../protocol/types.ts';
import type { Connection } from './connection.ts';
import { PoproomError, type PoproomErrorCode } from './error.ts';

export type WriteAnswer = Extract<ServerMessage, { type: 'written' | 'conflict' }>;

export interface Writes {
  send(connection: Connection, content: string, baseVersion: number): Promise<WriteAnswer>;
  /** Settles the write that the message is the response to, if any. */
  onMessage(message: ServerMessage): void;
  /** Rejects all writes, because no response will arrive. They may have been stored. */
  fail(error: PoproomError): void;
}

export function createWrites(): Writes {
  const waiting = new Map<string, PromiseWithResolvers<WriteAnswer>>();
  let count = 0;

  return {
    send(connection, content, baseVersion) {
      const ref = String(++count);
      const answer = Promise.withResolvers<WriteAnswer>();
      waiting.set(ref, answer);
      connection.send({ type: 'content', content, baseVersion, ref });
      return answer.promise;
    },

    onMessage(message) {
      // Edits of other devices may have the same ref.
      if (!('ref' in message) || message.type === 'edit' || message.type === 'sealed-edit') return;
      const { ref = '' } = message;
      const answer = waiting.get(ref);
      waiting.delete(ref);
      if (message.type === 'error') answer?.reject(toError(message));
      else answer?.resolve(message);
    },

    fail(error) {
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
  };
}

export function toError({ error }: Extract<ServerMessage, { type: 'error' }>): PoproomError {
  return new PoproomError(error.code as PoproomErrorCode, error.message, { details: error.details });
}
