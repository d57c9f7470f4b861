/** Writes that were sent and are not answered yet. */
import type { ServerMessage } from '../protocol/types.ts';
import type { Connection } from './connection.ts';
import { PoproomError, type PoproomErrorCode } from './error.ts';

export type WriteAnswer = Extract<ServerMessage, { type: 'written' | 'conflict' }>;

export interface Writes {
  send(connection: Connection, content: string, baseVersion: number): Promise<WriteAnswer>;
  /** Returns whether the message was the response to a write. */
  settle(message: ServerMessage): boolean;
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

    settle(message) {
      // Edits of other devices may have the same ref.
      if (message.type !== 'written' && message.type !== 'conflict' && message.type !== 'error') return false;
      const { ref = '' } = message;
      const answer = waiting.get(ref);
      if (!answer) return false;
      waiting.delete(ref);
      if (message.type === 'error') answer.reject(toError(message));
      else answer.resolve(message);
      return true;
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
