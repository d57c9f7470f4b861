/** PINs are stored only as a keyed hash. The key is outside the database. */
import { createHmac } from 'node:crypto';
import { PoproomError } from './errors.ts';

declare const checked: unique symbol;
/** Four ASCII digits. */
export type Pin = string & { readonly [checked]: true };

export function parsePin(text: string): Pin {
  if (/^[0-9]{4}$/.test(text)) return text as Pin;
  throw new PoproomError('VALIDATION_FAILED', 'The PIN must be a string of exactly four digits, for example "0427".', {
    details: { field: 'pin' },
  });
}

/**
 * Includes the room code, so that equal PINs of two rooms have different hashes. It uses the first six symbols, which
 * are the same before and after the store shortens the code of a new room.
 */
export function macPin(secret: string, codeOrDraw: string, pin: Pin): Uint8Array {
  return createHmac('sha256', secret)
    .update(`pin\n${codeOrDraw.slice(0, 6)}\n${pin}`)
    .digest();
}
