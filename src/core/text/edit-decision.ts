/** Decides about an edit against the current text: what to append, or why not. */
import { maxEdits } from '../../protocol/fields.ts';
import type { TextDocument } from '../../text/document.ts';
import { type EditProblem, findProblem, splitsPair, type TextEdit } from '../../text/edits.ts';
import { rebaseOver } from '../../text/rebase.ts';
import { byteCount, invalidField, PoproomError } from '../errors.ts';
import type { KeyedRun } from '../idempotency.ts';
import type { ClientId } from '../ports/basics.ts';
import type { StoredRef, TextEntry } from '../ports/texts.ts';
import { encryptionRequired } from '../sealed.ts';
import { toTimestamp } from '../timestamp.ts';
import type { WorkingText } from './working-text.ts';

/** The author of a change, and its ref. */
export interface Author {
  deviceId?: string | undefined;
  ref?: string | undefined;
  /** The live channel that sent it. */
  origin?: string | undefined;
  /** For a request with an idempotency key. */
  run?: KeyedRun<WrittenText> | undefined;
  /** Whose work it is. */
  client?: ClientId | undefined;
}

export interface EditRequest extends Author {
  edits: readonly TextEdit[];
  /** The version that the edits apply to; undefined means the current one. */
  baseVersion: number | undefined;
  /** Edits only if the current version is one of these. */
  ifVersions?: readonly number[] | undefined;
}

/** A new text, instead of edits. */
export interface Replacement extends Pick<EditRequest, 'ifVersions'>, Author {
  content: string;
  /** The size of the content, if it is checked already. */
  bytes?: number;
}

export interface WrittenText {
  version: number;
  writtenAt: number;
  /** In an encrypted room, whether a client should store a snapshot. */
  compact?: true;
}

/** A synchronous decision: edits to append, a result that exists already, a rejection, or that older entries are needed. */
export type Decision = Edition | { written: WrittenText } | { since: number } | Rejection;

interface Rejection {
  refusal: Refusal;
  /** Whether another node may have removed the reason without a new version. */
  isOutdatedIfCompacted?: true;
}

export interface Edition {
  edits: readonly TextEdit[];
  /** The whole text after the edits, if they replace it, and its size. Counting the bytes of 100 KB takes 5 µs. */
  replacement?: string;
  replacementBytes?: number;
  /** In an encrypted room, instead of edits. */
  sealed?: string;
}

/** Creates the error if the text is current: another node may have written since it was read. */
type Refusal = (text: WorkingText) => PoproomError;

/** From this number on, looking up positions in a document of pieces takes longer than joining them. */
const manyEdits = 16;

export function decideEdit(text: WorkingText, request: EditRequest): Decision {
  if (text.isEncrypted) throw encryptionRequired('Send "sealed" instead of "edits" and "append".', 'edits');
  const { edits, deviceId, ifVersions, baseVersion = text.version } = request;
  const earlier = text.findByRef(request);
  if (earlier) return repeated(earlier, (entry) => isSameEdit(entry, request));
  if (ifVersions && !ifVersions.includes(text.version)) return { refusal: conflict };
  if (baseVersion > text.version) return { refusal: ({ version }) => unknownBase(baseVersion, version) };
  // An earlier copy of this edit can only be among the entries since its base version.
  if (baseVersion < text.firstBase) return { since: baseVersion };
  const rebased = rebase(text, edits, deviceId, baseVersion);
  if (!rebased) throw unknownBase(baseVersion, text.version);
  if (rebased.length > manyEdits) text.document.toString();
  checkPairs(rebased, text.document);
  return { edits: rebased };
}

/** Undefined if it would take too long. Then the client must read again. */
function rebase(text: WorkingText, edits: readonly TextEdit[], deviceId: string | undefined, baseVersion: number) {
  const newer = text.since(baseVersion);
  if (!newer) return undefined;
  const length = text.lengthAt(newer);
  const found = findProblem(edits, length);
  if (found) throw invalidEdit(found.index, problemTexts[found.problem](length));
  const rebased = rebaseOver(edits, deviceId, newer);
  return rebased && rebased.length <= maxEdits ? rebased : undefined;
}

/** For an edit that is sent again after its response was lost. Its entry is compared if the log still has it. */
export function repeated(earlier: TextEntry | StoredRef, isSame: (entry: TextEntry) => boolean): Decision {
  const { version, writtenAt } = earlier;
  if (!('edits' in earlier) || isSame(earlier)) return { written: { version, writtenAt } };
  throw invalidField('ref', '"ref" was already used for another edit. Use a new "ref" for each edit.', { version });
}

/** Rebasing moves edits but keeps what they insert. Mere removals are compared if both are for the same version. */
function isSameEdit({ version, edits }: TextEntry, again: EditRequest): boolean {
  const [inserted, insertedAgain] = [edits, again.edits].map((all) => all.map(({ insert }) => insert).join(''));
  if (inserted !== insertedAgain) return false;
  return inserted !== '' || again.baseVersion !== version - 1 || JSON.stringify(edits) === JSON.stringify(again.edits);
}

export const conflict: Refusal = ({ document, version, point }) =>
  new PoproomError('VERSION_CONFLICT', 'Someone else has changed the text. Nothing was overwritten.', {
    details: { content: document.toString(), version, timestamp: toTimestamp(point.writtenAt) },
  });

/** Checks surrogate pairs in the text that the edits apply to. Rebasing valid edits never splits a pair. */
function checkPairs(edits: readonly TextEdit[], document: TextDocument): void {
  for (const [index, { from, to }] of edits.entries()) {
    if (splitsPairAt(document, from) || splitsPairAt(document, to))
      throw invalidEdit(index, 'starts or ends inside a surrogate pair.');
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

const invalidEdit = (index: number, sentence: string) =>
  invalidField('edits', `"edits[${index}]" ${sentence}`, { index });

/** Returns the size in bytes. */
export function checkContent(content: string, largest: number): number {
  if (!content.isWellFormed())
    throw invalidField('content', '"content" contains half of a surrogate pair, which is not valid text.');
  const bytes = Buffer.byteLength(content);
  checkSize(bytes, largest);
  return bytes;
}

export function checkSize(bytes: number, largest: number): void {
  if (bytes <= largest) return;
  const message = `The text exceeds the limit of ${byteCount(largest)} of UTF-8.`;
  throw new PoproomError('CONTENT_TOO_LARGE', message, { details: { maximum: largest } });
}

export function unknownBase(baseVersion: number, current: number): PoproomError {
  const message =
    baseVersion > current
      ? `Version ${baseVersion} does not exist yet. The current version is ${current}.`
      : `Version ${baseVersion} is too old. Read the current version, ${current}, and edit that.`;
  return new PoproomError('VERSION_CONFLICT', message, { details: { version: current } });
}

export const changingTooFast = () =>
  new PoproomError('UNAVAILABLE', 'The text is changing too fast. Try again in 1 second.', { retryAfter: 1 });
