/** Parses and validates messages of clients. */

import { stepsFor } from '../core/defence/turns.ts';
import { PoproomError } from '../core/errors.ts';
import type { MaybePromise } from '../core/ports.ts';
import { hasMoreValues, maxRequestValues } from '../protocol/json-values.ts';
import { clientMessages, writeText } from '../protocol/live.ts';
import type { ClientMessage } from '../protocol/types.ts';

/** `measure` runs the synchronous parts. */
export type ParseMessage = (data: Buffer, isBinary: boolean, measure: <T>(work: () => T) => T) => Promise<Parsed>;

type Parsed =
  | { message: ClientMessage; problem?: undefined }
  /** With the `ref` for the response, if the message has one. */
  | { problem: PoproomError; ref: string | undefined };

/** Validates a value against a schema. Returns the problem or undefined. */
export type Validate = (schema: object, value: unknown) => MaybePromise<PoproomError | undefined>;

const longestRef = writeText.properties.ref.maxLength;

export function createParseMessage(validate: Validate): ParseMessage {
  return async (data, isBinary, measure) => {
    if (isBinary) return invalid('VALIDATION_FAILED', 'Messages must be JSON text, not binary.');
    const betweenSteps = stepsFor(data.length);
    await betweenSteps();
    if (measure(() => hasMoreValues(data, maxRequestValues)))
      return invalid('INVALID_JSON', 'The message contains too many JSON values.');
    const json = measure(() => data.toString('utf8'));
    await betweenSteps();
    const value = measure(() => parse(json));
    await betweenSteps();
    if (value === undefined) return invalid('INVALID_JSON', 'The message is not well-formed JSON.');
    const { type, ref } = (value ?? {}) as { type?: unknown; ref?: unknown };
    const schema = Object.entries(clientMessages).find(([name]) => name === type)?.[1];
    if (!schema)
      return invalid(
        'VALIDATION_FAILED',
        'The "type" of a message must be join, content, edit, sealed-edit, compact or heartbeat.',
        ref,
      );
    const problem = await measure(() => validate(schema, value));
    return problem ? { problem, ref: refOf(ref) } : { message: value as ClientMessage };
  };
}

function invalid(code: 'VALIDATION_FAILED' | 'INVALID_JSON', message: string, ref?: unknown): Parsed {
  return { problem: new PoproomError(code, message), ref: refOf(ref) };
}

const refOf = (ref: unknown) => (typeof ref === 'string' && ref.length <= longestRef ? ref : undefined);

/** Undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
