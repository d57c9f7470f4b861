/** PINs are never kept: only a keyed hash is, whose key lives outside the database. */
import { createHmac } from 'node:crypto';
import { PoproomError } from './errors.ts';

declare const checked: unique symbol;
/** Four ASCII digits. */
export type Pin = string & { readonly [checked]: true };

export function parsePin(text: string): Pin {
  if (/^[0-9]{4}$/.test(text)) return text as Pin;
  throw new PoproomError('VALIDATION_FAILED', 'The PIN must be a string of exactly four digits, such as "0427".', {
    details: { field: 'pin' },
  });
}

/**
 * Bound to the room, so that equal PINs of two rooms do not look alike in the database. Six symbols do: a room's code
 * is cut to its length only while the room is made, and six is the part that is there before and after.
 */
export function macPin(secret: string, codeOrDraw: string, pin: Pin): Uint8Array {
  return createHmac('sha256', secret)
    .update(`pin\n${codeOrDraw.slice(0, 6)}\n${pin}`)
    .digest();
}
