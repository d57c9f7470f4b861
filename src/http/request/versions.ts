/** Entity tags of texts and files. */
import { PoproomError } from '../../core/errors.ts';

export const versionTag = (version: number) => `"${version}"`;

/** The versions in an If-Match (NaN for a weak tag); undefined if there is no If-Match or it is `*`. */
export function parseIfMatch(value: string | undefined): number[] | undefined {
  if (value === undefined || value.trim() === '*') return undefined;
  return parseTags(value).map((tag) => (/^"(0|[1-9]\d{0,14})"$/.test(tag) ? Number(tag.slice(1, -1)) : Number.NaN));
}

/** Whether an If-None-Match contains this tag. A malformed one contains none. */
export function isNamedBy(value: string | undefined, tag: string): boolean {
  if (value === undefined) return false;
  if (value.trim() === '*') return true;
  return value.split(',').some((part) => part.trim().replace(/^W\//, '') === tag);
}

/** Whether an If-Match contains this tag. A weak tag does not match. */
export function isNamedExactly(value: string, tag: string): boolean {
  return value.trim() === '*' || parseTags(value).includes(tag);
}

/** Tags may contain commas, so the list cannot be split at commas. */
const listOfTags = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

function parseTags(value: string): string[] {
  if (listOfTags.test(value.trim())) return value.match(/(?:W\/)?"[^"]*"/g) ?? [];
  throw new PoproomError('VALIDATION_FAILED', 'If-Match must be a version in quotes, for example "7".', {
    details: { field: 'If-Match' },
  });
}
