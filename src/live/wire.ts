/** The connection of a session, independent of the transport, and the messages on it: encoding, parsing, close codes. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { chain } from '../core/concurrency.ts';
import { isLarge } from '../core/defence/work.ts';
import { PoproomError } from '../core/errors.ts';
import type { MaybePromise } from '../core/ports/basics.ts';
import type { ErrorCode } from '../protocol/error-codes.ts';
import { hasMoreValues, maxRequestValues } from '../protocol/json-values.ts';
import { clientMessages, writeText } from '../protocol/live.ts';
import type { CloseCode } from '../protocol/live-protocol.ts';
import type { ClientMessage, Closed, ServerMessage } from '../protocol/types.ts';

/** The bytes that are sent to a session. Beyond it, it gets the latest state. */
export const sendBudget = { burst: 4 * 1024 * 1024, perSecond: 1024 * 1024 };

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
  /** The same if the connection is lost: a random part of this time. */
  retryWithin?: number | undefined;
}

/** The text of a room as JSON. Messages share these bytes to save memory. */
interface LongText {
  json: Uint8Array;
  /** Its position in the message, as an index of `text`. */
  at: number;
}

export interface Wire {
  /** Sends the messages together. */
  send(messages: readonly Outgoing[]): void;
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
  const retryWithin = message.type === 'heartbeat' ? message.reconnectWithin : undefined;
  return { type: message.type, seq, text, bytes: Buffer.byteLength(text), longText: undefined, retry, retryWithin };
}

/** The message for an error. Clients do not receive details of unexpected ones. */
export function errorMessageOf(error: unknown) {
  const known =
    error instanceof PoproomError ? error : new PoproomError('INTERNAL', 'Something went wrong on the server.');
  const { code, message, details } = known;
  return { type: 'error' as const, error: { code, message, ...(details && { details }) } };
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

const frame = Symbol('encoded frame');

/**
 * The WebSocket frame of a message (RFC 6455, section 5.2), encoded once for all sockets: servers do not mask, so all
 * devices get the same bytes. `ws` would encode it for each of them.
 */
export function frameOf(message: Outgoing & { [frame]?: readonly Uint8Array[] }): readonly Uint8Array[] {
  message[frame] ??= encodeFrame(message);
  return message[frame];
}

const finalText = 0x81;

function encodeFrame({ text, bytes, longText }: Outgoing): Uint8Array[] {
  if (!longText) return [encodeFirstPart(text, bytes, bytes)];
  const { json, at } = longText;
  const [before, after] = [text.slice(0, at), Buffer.from(text.slice(at))];
  return [encodeFirstPart(before, bytes - json.byteLength - after.byteLength, bytes), json, after];
}

/** The frame header and the first part of the payload. */
function encodeFirstPart(text: string, textBytes: number, bytes: number): Buffer {
  const headBytes = bytes < 126 ? 2 : bytes < 65_536 ? 4 : 10;
  // Not from the pool: a heartbeat is kept for long, and would keep its whole pool in memory.
  const encoded = Buffer.allocUnsafeSlow(headBytes + textBytes);
  encoded[0] = finalText;
  encoded[1] = headBytes === 2 ? bytes : headBytes === 4 ? 126 : 127;
  if (headBytes === 4) encoded.writeUInt16BE(bytes, 2);
  if (headBytes === 10) encoded.writeBigUInt64BE(BigInt(bytes), 2);
  encoded.write(text, headBytes);
  return encoded;
}

export const tooFast = 4429 satisfies CloseCode;
export const policyViolation = 1008 satisfies CloseCode;

const closeCodes: Partial<Record<ErrorCode, CloseCode>> = {
  PIN_REQUIRED: 4401,
  KEY_REQUIRED: 4401,
  API_KEY_REQUIRED: 4401,
  INVALID_API_KEY: 4401,
  PIN_INCORRECT: 4403,
  KEY_INCORRECT: 4403,
  READ_ONLY: 4403,
  DROP_ONLY: 4403,
  ROOM_NOT_FOUND: 4404,
  ROOM_EXPIRED: 4410,
  PIN_LOCKED: tooFast,
  KEY_LOCKED: tooFast,
  RATE_LIMITED: tooFast,
  CONTENT_TOO_LARGE: 1009,
  UNAVAILABLE: 1012,
  INTERNAL: 1011,
};

/** The WebSocket close code. Other transports send only the reason. */
export const closeCodeOf = (code: ErrorCode): CloseCode => closeCodes[code] ?? policyViolation;

export const closeCodeFor: Record<Closed['reason'], CloseCode> = {
  deleted: 4410,
  expired: 4410,
  revoked: 4410,
  shutdown: 1012,
};

/** `measure` runs the synchronous parts. */
export type ParseMessage = (data: Buffer, isBinary: boolean, measure: Measure) => MaybePromise<Parsed>;

type Measure = <T>(work: () => T) => T;

type Parsed =
  | { message: ClientMessage; problem?: undefined }
  /** With the `ref` for the response, if the message has one. */
  | { problem: PoproomError; ref: string | undefined };

/** Validates a value against a schema. Returns the problem or undefined. */
export type Validate = (schema: object, value: unknown) => MaybePromise<PoproomError | undefined>;

const longestRef = writeText.properties.ref.maxLength;

const schemas = new Map<unknown, object>(Object.entries(clientMessages));
const unknownType =
  'The "type" of a message must be join, content, edit, sealed-edit, compact, caret, sealed-caret or heartbeat.';

/** Parses and validates messages of clients. Others are served between the steps of a large one. */
export function createParseMessage(validate: Validate): ParseMessage {
  function checked(value: unknown): MaybePromise<Parsed> {
    if (value === undefined) return invalidMessage('INVALID_JSON', 'The message is not well-formed JSON.');
    const { type, ref } = (value ?? {}) as { type?: unknown; ref?: unknown };
    const schema = schemas.get(type);
    if (!schema) return invalidMessage('VALIDATION_FAILED', unknownType, ref);
    return chain(validate(schema, value), (problem) =>
      problem ? { problem, ref: refOf(ref) } : { message: value as ClientMessage },
    );
  }

  async function parseInSteps(data: Buffer, measure: Measure): Promise<Parsed> {
    await nextTurn();
    if (measure(() => hasTooManyValues(data))) return tooManyValues();
    const json = measure(() => data.toString('utf8'));
    await nextTurn();
    const value = measure(() => parseJson(json));
    await nextTurn();
    return measure(() => checked(value));
  }

  return (data, isBinary, measure) => {
    if (isBinary) return invalidMessage('VALIDATION_FAILED', 'Messages must be JSON text, not binary.');
    if (isLarge(data.length)) return parseInSteps(data, measure);
    return measure(() => (hasTooManyValues(data) ? tooManyValues() : checked(parseJson(data.toString('utf8')))));
  };
}

const hasTooManyValues = (data: Buffer) => hasMoreValues(data, maxRequestValues);

const tooManyValues = () => invalidMessage('INVALID_JSON', 'The message contains too many JSON values.');

function invalidMessage(code: 'VALIDATION_FAILED' | 'INVALID_JSON', message: string, ref?: unknown): Parsed {
  return { problem: new PoproomError(code, message), ref: refOf(ref) };
}

const refOf = (ref: unknown) => (typeof ref === 'string' && ref.length <= longestRef ? ref : undefined);

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
