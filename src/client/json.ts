/** JSON from a server that is not trusted: parsed only where that cannot take more memory than its size explains. */
import { hasMoreValues } from '../protocol/json-values.ts';

/** More than the longest text that a server may be set up for, with every character escaped. */
export const maxJsonBytes = 64 * 1024 * 1024;
/** A snapshot of a full room has some two thousand. */
const maxValues = 100_000;

/** Undefined for anything that is not JSON, or has too much in it. */
export function parseJson(text: string): unknown {
  if (text.length > maxJsonBytes || hasMoreValues(text, maxValues)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
