/** Parses the version of a text. */
import { UsageError } from './usage-error.ts';

/** `source` is the command that shows the versions, such as `poproom history`. */
export function readVersion(text: string, source: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`"${text}" is not a version; use a whole number from "${source}".`);
}
