/** Decides about an edit against the current text: what to append, or why not. */
import { maxEdits } from '../../protocol/fields.ts';
import type { TextEdit } from '../../text/edits.ts';
import { rebaseOver } from '../../text/rebase.ts';
import type { PoproomError } from '../errors.ts';
import type { KeyedRun } from '../idempotency.ts';
import type { ClientId, Content, TextEntry } from '../ports.ts';
import { encryptionRequired } from '../sealed.ts';
import { checkEdits, checkPairs, reusedRef, unknownBase, versionConflict } from './edit-rules.ts';
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
  /** The whole text after the edits, if they replace it. */
  replacement?: string;
  /** In an encrypted room, instead of edits. */
  sealed?: string;
}

/** Creates the error if the text is current: another node may have written since it was read. */
type Refusal = (text: WorkingText) => PoproomError;

/** From this number on, looking up positions in a document of pieces takes longer than joining them. */
const manyEdits = 16;

export function decideEdit(text: WorkingText, request: EditRequest): Decision {
  if (text.isEncrypted) throw encryptionRequired('Send "sealed" instead of "edits" and "append".', 'edits');
  const { edits, deviceId, ref, ifVersions, baseVersion = text.version } = request;
  if (deviceId !== undefined && ref !== undefined) {
    const earlier = text.findByRef(deviceId, ref);
    if (earlier) return { written: repeated(earlier, request) };
    const last = text.findLastRef(deviceId, ref);
    if (last) return { written: { version: last.version, writtenAt: last.writtenAt } };
  }
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
function rebase(
  text: WorkingText,
  edits: readonly TextEdit[],
  deviceId: string | undefined,
  baseVersion: number,
): readonly TextEdit[] | undefined {
  const newer = text.since(baseVersion);
  if (!newer) return undefined;
  checkEdits(edits, text.lengthAt(newer));
  const rebased = rebaseOver(edits, deviceId, newer);
  return rebased && rebased.length <= maxEdits ? rebased : undefined;
}

/**
 * The same edit sent again after its response was lost. Rebasing moves edits but keeps what they insert. If they only
 * remove, the ranges are compared, provided that both are for the same version.
 */
function repeated(earlier: TextEntry, again: EditRequest): WrittenText {
  const { version, writtenAt, edits } = earlier;
  const inserted = insertedBy(edits);
  const isSame = inserted === insertedBy(again.edits) && (inserted !== '' || removesSame(earlier, again));
  if (!isSame) throw reusedRef(version);
  return { version, writtenAt };
}

const insertedBy = (edits: readonly TextEdit[]) => edits.map(({ insert }) => insert).join('');

function removesSame({ version, edits }: TextEntry, again: EditRequest): boolean {
  const isFirstForm = again.baseVersion === version - 1;
  return !isFirstForm || JSON.stringify(edits) === JSON.stringify(again.edits);
}

export const conflict: Refusal = (text) => versionConflict(contentOf(text));

function contentOf({ document, version, point }: WorkingText): Content {
  return { content: document.toString(), version, writtenAt: point.writtenAt };
}
