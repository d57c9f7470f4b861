/** Parses JSON from an untrusted server with bounded memory. */
import { hasMoreValues } from '../protocol/json-values.ts';

/** More than the largest text that a server can be configured for, with every character escaped. */
export const maxJsonBytes = 64 * 1024 * 1024;
/** A snapshot of a full room has about 2,000. */
const maxValues = 100_000;

/** Returns undefined for anything that is not JSON or is too large. */
export function parseJson(text: string): unknown {
  if (text.length > maxJsonBytes || hasMoreValues(text, maxValues)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
