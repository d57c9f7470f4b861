/** Validation of edits, and its errors. */
import type { TextDocument } from '../../text/document.ts';
import { type EditProblem, findProblem, splitsPair, type TextEdit } from '../../text/edits.ts';
import { byteCount, PoproomError } from '../errors.ts';
import type { Content } from '../ports.ts';
import { toTimestamp } from '../timestamp.ts';

export function checkEdits(edits: readonly TextEdit[], length: number): void {
  const found = findProblem(edits, length);
  if (found) throw invalidEdit(found.index, problemTexts[found.problem](length));
}

/** Checks surrogate pairs in the text that the edits apply to. Rebasing valid edits never splits a pair. */
export function checkPairs(edits: readonly TextEdit[], document: TextDocument): void {
  for (const [index, { from, to }] of edits.entries()) {
    if (splitsPairAt(document, from) || splitsPairAt(document, to)) {
      throw invalidEdit(index, 'starts or ends inside a surrogate pair.');
    }
  }
}

function splitsPairAt(document: TextDocument, position: number): boolean {
  if (position === 0 || position >= document.length) return false;
  const around = document.slice(position - 1, position + 1);
  return splitsPair(around.charCodeAt(0), around.charCodeAt(1));
}

const problemTexts: Record<EditProblem, (length: number) => string> = {
  'out-of-range': (length) => `is outside the text, which has ${length} UTF-16 code units in that version.`,
  overlapping: () => 'overlaps the previous edit. Edits must be in ascending order and must not overlap.',
  'not-well-formed': () => 'inserts half of a surrogate pair, which is not valid text.',
};

function invalidEdit(index: number, sentence: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `"edits[${index}]" ${sentence}`, { details: { field: 'edits', index } });
}

export function checkContent(content: string, largest: number): void {
  if (!content.isWellFormed()) {
    throw new PoproomError(
      'VALIDATION_FAILED',
      '"content" contains half of a surrogate pair, which is not valid text.',
      {
        details: { field: 'content' },
      },
    );
  }
  checkSize(Buffer.byteLength(content), largest);
}

export function checkSize(bytes: number, largest: number): void {
  if (bytes > largest) throw contentTooLarge(largest);
}

function contentTooLarge(largest: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The text exceeds the limit of ${byteCount(largest)} of UTF-8.`, {
    details: { maximum: largest },
  });
}

export function reusedRef(version: number): PoproomError {
  return new PoproomError(
    'VALIDATION_FAILED',
    '"ref" was already used for another edit. Use a new "ref" for each edit.',
    {
      details: { field: 'ref', version },
    },
  );
}

/** Names the requested and the current version. */
export function unknownBase(baseVersion: number, current: number): PoproomError {
  const message =
    baseVersion > current
      ? `Version ${baseVersion} does not exist yet. The current version is ${current}.`
      : `Version ${baseVersion} is too old. Read the current version, ${current}, and edit that.`;
  return new PoproomError('VERSION_CONFLICT', message, { details: { version: current } });
}

export function versionConflict({ content, version, writtenAt }: Content): PoproomError {
  return new PoproomError('VERSION_CONFLICT', 'Someone else has changed the text. Nothing was overwritten.', {
    details: { content, version, timestamp: toTimestamp(writtenAt) },
  });
}

export function changingTooFast(): PoproomError {
  return new PoproomError('UNAVAILABLE', 'The text is changing too fast. Try again in 1 second.', { retryAfter: 1 });
}
