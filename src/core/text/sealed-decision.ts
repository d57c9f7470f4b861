/** Decides about writes to the text of an encrypted room. The server cannot rebase them. */
import type { ErrorCode } from '../../protocol/error-codes.ts';
import { PoproomError } from '../errors.ts';
import { checkSealed, longestSealed, notEncrypted } from '../sealed.ts';
import { toTimestamp } from '../timestamp.ts';
import type { Author, Decision } from './edit-decision.ts';
import { reusedRef } from './edit-rules.ts';
import { fitsInLog, sealedEditOf, tailOf } from './sealed-text.ts';
import type { WorkingText } from './working-text.ts';

export interface SealedEditRequest extends Author {
  sealed: string;
  /** May be in `ifVersions` instead. */
  baseVersion: number | undefined;
  ifVersions?: readonly number[] | undefined;
}

export interface SealedReplacement {
  content: string;
  ifVersions?: readonly number[] | undefined;
}

/** A sealed full text of a version in the log. */
export interface SealedSnapshot {
  content: string;
  version: number;
}

export function decideSealedEdit(
  text: WorkingText,
  { sealed, deviceId, ref, ifVersions, ...request }: SealedEditRequest,
  largestContent: number,
): Decision {
  if (!text.isEncrypted) throw notEncrypted('sealed');
  const baseVersion = request.baseVersion ?? (ifVersions?.length === 1 ? ifVersions[0] : undefined);
  const longest = longestSealed(largestContent);
  checkSealed(sealed, 'edit', 'sealed', longest);
  if (baseVersion === undefined) throw baseVersionRequired('baseVersion');
  const earlier = deviceId !== undefined && ref !== undefined ? text.findByRef(deviceId, ref) : undefined;
  if (earlier && earlier.sealed !== sealed) throw reusedRef(earlier.version);
  const stored = earlier ?? (deviceId !== undefined && ref !== undefined ? text.findLastRef(deviceId, ref) : undefined);
  if (stored) return { written: { version: stored.version, writtenAt: stored.writtenAt } };
  if (ifVersions && !ifVersions.includes(text.version)) {
    return { refusal: (current) => conflictWith('VERSION_CONFLICT', current, baseVersion) };
  }
  if (baseVersion !== text.version) return { refusal: (current) => editConflict(current, baseVersion) };
  const isFull = !fitsInLog(tailOf(text.sinceFullText()), sealed.length, longest);
  if (isFull) return { refusal: compactionRequired, isOutdatedIfCompacted: true };
  return { edits: [], sealed };
}

export function decideSealedReplacement(
  text: WorkingText,
  { content, ifVersions }: SealedReplacement,
  largestContent: number,
): Decision {
  checkSealed(content, 'text', 'content', longestSealed(largestContent));
  if (ifVersions?.length !== 1) throw baseVersionRequired('If-Match');
  const [base = 0] = ifVersions;
  if (base !== text.version) return { refusal: (current) => conflictWith('VERSION_CONFLICT', current, base) };
  return { edits: [], replacement: content };
}

const editConflict = (text: WorkingText, baseVersion: number): PoproomError =>
  conflictWith('EDIT_CONFLICT', text, baseVersion);

const conflictMessages = {
  EDIT_CONFLICT: 'Someone else has changed the text. Rebase your edit over the newer ones, and send it again.',
  VERSION_CONFLICT: 'Someone else has changed the text. Nothing was overwritten.',
} satisfies Partial<Record<ErrorCode, string>>;

function conflictWith(code: keyof typeof conflictMessages, text: WorkingText, baseVersion: number): PoproomError {
  const { version, point } = text;
  const details = { version, timestamp: toTimestamp(point.writtenAt), ...newerThan(text, baseVersion) };
  return new PoproomError(code, conflictMessages[code], { details });
}

/** The edits since a version, or the whole text if the log does not lead from there. */
function newerThan(text: WorkingText, version: number) {
  const newer = text.since(version);
  if (newer?.every(({ sealed }) => sealed !== undefined)) return { sealedEdits: newer.map(sealedEditOf) };
  const sealedEdits = text.sinceFullText().map(sealedEditOf);
  return { content: text.document.toString(), contentVersion: text.fullTextVersion, sealedEdits };
}

function compactionRequired({ version }: WorkingText): PoproomError {
  const message = 'The log of this encrypted room is full. Store a snapshot of the text, or replace the text.';
  return new PoproomError('COMPACTION_REQUIRED', message, { details: { version } });
}

function baseVersionRequired(field: 'If-Match' | 'baseVersion'): PoproomError {
  const message = `Writes to an encrypted room must name their base version. Send exactly one in ${field}.`;
  return new PoproomError('BASE_VERSION_REQUIRED', message, { details: { field } });
}
