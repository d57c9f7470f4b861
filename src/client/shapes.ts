/** Checks the shape of what a server sends, which is not trusted. `response-checks.ts` combines these checks. */
import { hasMoreValues } from '../protocol/json-values.ts';
import type { ErrorBody } from '../protocol/types.ts';

export type Shape<T> = (value: unknown) => value is T;

export type Check = (value: unknown) => boolean;
/** One check per field. */
type Checks<T> = { readonly [Name in keyof T]-?: Check };

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the value is a number from 0 without a fraction, such as a version. */
export const isWhole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
/** Whether the value can become part of a WebSocket subprotocol name, as a resume token does. */
export const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\w.~-]{1,500}$/.test(value);

export const text: Check = (value) => typeof value === 'string' && value.isWellFormed();
export const flag: Check = (value) => typeof value === 'boolean';
export const time: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
/** A room code, or the id of a link. */
export const roomCode: Check = (value) => typeof value === 'string' && /^[\dA-Z]{6,24}$/.test(value);
/** Excludes names that every object has, such as `__proto__`. */
const errorCode: Check = (value) => typeof value === 'string' && /^[A-Z][A-Z_]*$/.test(value);
export const isTrue: Check = (value) => value === true;

export const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
export const optional =
  (isValid: Check): Check =>
  (value) =>
    value === undefined || isValid(value);
export const list =
  (isValid: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isValid);

/** Ignores other fields, because a newer server may send more. `isBase` checks the fields of an object that it extends. */
export function object<T, Base = unknown>(checks: Checks<Omit<T, keyof Base>>, isBase: Check = isObject): Shape<T> {
  const entries = Object.entries(checks) as [string, Check][];
  return (value): value is T =>
    isBase(value) && entries.every(([name, isValid]) => isValid((value as Record<string, unknown>)[name]));
}

/** The details that programs rely on; see `ErrorDetails`. Others may have any type. */
const numbers = /^(version|offset|retryAfter|lockedFor|triesLeft|limit|used|maximum(Files|Bytes)?|status)$/;
const strings = /^(content|timestamp|field|reason|scope|freesAt|location)$/;
const isDetail = ([name, value]: [string, unknown]) =>
  (!numbers.test(name) || typeof value === 'number') && (!strings.test(name) || text(value));
const isDetails: Check = (value) => isObject(value) && Object.entries(value).every(isDetail);
/** Without this detail, the error of a server means nothing. */
const requiredDetails: Readonly<Record<string, string>> = {
  VERSION_CONFLICT: 'version',
  EDIT_CONFLICT: 'version',
  UPLOAD_CONFLICT: 'offset',
};

type ErrorShape = ErrorBody['error'];

const hasErrorShape = object<ErrorShape>({ code: errorCode, message: text, details: optional(isDetails) });

export const isError = (value: unknown): value is ErrorShape => {
  if (!hasErrorShape(value)) return false;
  const required = requiredDetails[value.code];
  return required === undefined || isWhole(value.details?.[required]);
};

/** Checks the order of edits. Applying them checks that they are in range. */
export function areEdits(value: unknown): boolean {
  let end = 0;
  const isNext: Check = (edit) => {
    const { from, to } = edit as { from: number; to: number };
    const isAscending = end <= from && from <= to;
    end = to;
    return isAscending;
  };
  return list(isEdit)(value) && (value as unknown[]).every(isNext);
}

const isEdit = object<{ from: number; to: number; insert: string }>({ from: isWhole, to: isWhole, insert: text });

/** More than the largest text that a server can be configured for, with every character escaped. */
export const maxJsonBytes = 64 * 1024 * 1024;
/** A snapshot of a full room has about 2,000. */
const maxValues = 100_000;

/** Returns undefined for anything that is not JSON or is too large. */
export function parseJson(text: string): unknown {
  if (text.length > maxJsonBytes || hasMoreValues(text, maxValues)) return undefined;
  return attempt(() => JSON.parse(text));
}

/** Returns undefined if the action throws, as it does for input that is damaged or forged. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
