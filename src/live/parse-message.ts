/** From bytes to messages of the protocol. */
import { PoproomError } from '../core/errors.ts';
import { clientMessages } from '../protocol/live.ts';
import type { ClientMessage } from '../protocol/types.ts';

/** Rejects with what is wrong. */
export type ParseMessage = (data: Buffer, isBinary: boolean) => Promise<ClientMessage>;

/** How values are checked against a schema: undefined, or what is wrong. */
export type Validate = (schema: object, value: unknown) => Promise<PoproomError | undefined>;

export function createParseMessage(validate: Validate): ParseMessage {
  return async (data, isBinary) => {
    if (isBinary) throw new PoproomError('VALIDATION_FAILED', 'Messages are JSON text, not binary.');
    const value = parse(data.toString('utf8'));
    const { type } = (value ?? {}) as { type?: unknown };
    const schema = Object.entries(clientMessages).find(([name]) => name === type)?.[1];
    if (!schema) throw new PoproomError('VALIDATION_FAILED', 'The "type" of a message is join, content or heartbeat.');
    const problem = await validate(schema, value);
    if (problem) throw problem;
    return value as ClientMessage;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PoproomError('INVALID_JSON', 'The message is not well-formed JSON.');
  }
}
