/** What edits must be like, and the errors for those that are not. */
import type { TextDocument } from '../../text/document.ts';
import { type EditProblem, findProblem, splitsPair, type TextEdit } from '../../text/edits.ts';
import { PoproomError } from '../errors.ts';
import type { Content } from '../ports.ts';

export function checkEdits(edits: readonly TextEdit[], length: number): void {
  const found = findProblem(edits, length);
  if (found) throw invalidEdit(found.index, problemTexts[found.problem](length));
}

/** On the text that they apply to. Edits that were valid for their own version cannot come to split a pair here. */
export function checkPairs(edits: readonly TextEdit[], document: TextDocument): void {
  for (const [index, { from, to }] of edits.entries()) {
    if (splitsPairAt(document, from) || splitsPairAt(document, to)) {
      throw invalidEdit(index, 'begins or ends inside a surrogate pair.');
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
  overlapping: () => 'begins before the end of the edit before it; edits must be ascending and must not overlap.',
  'not-well-formed': () => 'inserts half of a surrogate pair, which is not text.',
};

function invalidEdit(index: number, sentence: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `"edits[${index}]" ${sentence}`, { details: { field: 'edits', index } });
}

export function checkContent(content: string, largest: number): void {
  if (!content.isWellFormed()) {
    throw new PoproomError('VALIDATION_FAILED', '"content" contains half of a surrogate pair, which is not text.', {
      details: { field: 'content' },
    });
  }
  checkSize(Buffer.byteLength(content), largest);
}

export function checkSize(bytes: number, largest: number): void {
  if (bytes > largest) throw contentTooLarge(largest);
}

function contentTooLarge(largest: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The text may have at most ${largest} bytes of UTF-8.`, {
    details: { maximum: largest },
  });
}

export function reusedRef(version: number): PoproomError {
  return new PoproomError(
    'VALIDATION_FAILED',
    '"ref" was used before, for another edit; use a new one for each edit.',
    {
      details: { field: 'ref', version },
    },
  );
}

/** Which base it was, and which there are. */
export function unknownBase(baseVersion: number, current: number): PoproomError {
  const message =
    baseVersion > current
      ? `Version ${baseVersion} does not exist yet; the current version is ${current}.`
      : `Version ${baseVersion} is too old to rebase on; the current version is ${current}. Read the text and edit that.`;
  return new PoproomError('VERSION_CONFLICT', message, { details: { version: current } });
}

export function versionConflict({ content, version, writtenAt }: Content): PoproomError {
  return new PoproomError('VERSION_CONFLICT', 'The text was changed by someone else; nothing was overwritten.', {
    details: { content, version, timestamp: new Date(writtenAt).toISOString() },
  });
}
