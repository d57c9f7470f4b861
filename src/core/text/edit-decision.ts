/** Decides about an edit against the current text: what to append, or why not. */
import { maxEdits } from '../../protocol/fields.ts';
import type { TextEdit } from '../../text/edits.ts';
import type { PoproomError } from '../errors.ts';
import type { Content, TextEntry } from '../ports.ts';
import { encryptionRequired } from '../sealed.ts';
import { checkEdits, checkPairs, reusedRef, unknownBase, versionConflict } from './edit-rules.ts';
import type { WorkingText } from './working-text.ts';

/** The author of a change, and its ref. */
export interface Author {
  deviceId?: string | undefined;
  ref?: string | undefined;
  /** The live channel that sent it. */
  origin?: string | undefined;
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

/** A synchronous decision: edits to append, a result that exists already, or a rejection. */
export type Decision = Edition | { written: WrittenText } | Rejection;

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

/** Limits the time for rebasing, which grows with edits and newer entries. Beyond it, the client must read again. */
const maxRebaseSteps = 20_000;
/** From this number on, looking up positions in a document of pieces takes longer than joining them. */
const manyEdits = 16;

export function decideEdit(text: WorkingText, request: EditRequest): Decision {
  if (text.isEncrypted) throw encryptionRequired('Send "sealed" instead of "edits" and "append".', 'edits');
  const { edits, deviceId, ref, ifVersions, baseVersion = text.version } = request;
  const earlier = deviceId !== undefined && ref !== undefined ? text.findByRef(deviceId, ref) : undefined;
  if (earlier) return { written: repeated(earlier, request) };
  if (ifVersions && !ifVersions.includes(text.version)) return { refusal: conflict };
  if (baseVersion > text.version) return { refusal: ({ version }) => unknownBase(baseVersion, version) };
  const rebased = rebase(text, edits, deviceId, baseVersion);
  if (!rebased) throw unknownBase(baseVersion, text.version);
  if (rebased.length > manyEdits) text.document.toString();
  checkPairs(rebased, text.document);
  return { edits: rebased };
}

/** Undefined if the log does not go back that far, or if it would take too long. */
function rebase(
  text: WorkingText,
  edits: readonly TextEdit[],
  deviceId: string | undefined,
  baseVersion: number,
): readonly TextEdit[] | undefined {
  const newer = text.since(baseVersion);
  if (!newer) return undefined;
  checkEdits(edits, text.lengthAt(newer));
  const steps = newer.reduce((sum, entry) => sum + entry.edits.length, newer.length * edits.length);
  if (steps > maxRebaseSteps) return undefined;
  const rebased = text.rebase(edits, deviceId, newer);
  return rebased.length > maxEdits ? undefined : rebased;
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
