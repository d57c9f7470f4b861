/**
 * The text of an encrypted room: its last full text, and the sealed edits since. The server decides about writes to it
 * and cannot rebase them.
 */
import type { ErrorCode } from '../../protocol/error-codes.ts';
import type { SealedEdit } from '../../protocol/types.ts';
import type { CoreDeps } from '../deps.ts';
import { orMissing, PoproomError } from '../errors.ts';
import type { SealedLog } from '../ports/rooms.ts';
import type { Content, TextAppend, TextEntry } from '../ports/texts.ts';
import type { RoomCode } from '../room-code.ts';
import { checkSealed, longestSealed, notEncrypted } from '../sealed.ts';
import { toTimestamp } from '../timestamp.ts';
import {
  changingTooFast,
  type Decision,
  type EditRequest,
  type Replacement,
  repeated,
  unknownBase,
  type WrittenText,
} from './edit-decision.ts';
import {
  type AdvanceOptions,
  type createTextCharges,
  logRetention,
  newestWithin,
  noteCheckpoint,
  planSealedCheckpoint,
  sealedChargeDue,
  textOverQuota,
} from './retention.ts';
import type { createLoadedTexts, WorkingText } from './working-text.ts';

/** A client is asked for a snapshot from this many edits, or when they are longer than the full text and this. */
const manyEdits = 200;
const longLog = 80 * 1024;
/** Beyond this, edits are refused until a snapshot is stored. */
const maxEdits = 1000;
/** Edits up to the full text that stay in the log however old they are, and in memory. */
const keptEntries = 100;
const keptBytes = 64 * 1024;

export type SealedContent = Content & { contentVersion: number; sealedEdits: SealedEdit[] };

/** The number of the sealed edits since the full text, and the total of their lengths. */
export const tailOf = (entries: readonly TextEntry[]) => ({
  edits: entries.length,
  length: entries.reduce((sum, { sealed = '' }) => sum + sealed.length, 0),
});

export const isCompactionDue = ({ edits, length }: ReturnType<typeof tailOf>, fullTextLength: number): boolean =>
  edits >= manyEdits || length > Math.max(longLog, fullTextLength);

const sealedContents = new WeakMap<SealedLog, SealedContent>();

/** Stores return the same cached log repeatedly. The entries must not be ones that replaced the text. */
export function sealedContentOf(content: Content, log: SealedLog): SealedContent {
  const known = sealedContents.get(log);
  if (known) return known;
  const { contentVersion, entries } = log;
  const made = { ...content, contentVersion, sealedEdits: entries.map(sealedEditOf) };
  sealedContents.set(log, made);
  return made;
}

export function sealedEditOf({ version, sealed = '', writtenAt, deviceId, ref }: TextEntry): SealedEdit {
  const author = { ...(deviceId !== undefined && { deviceId }), ...(ref !== undefined && { ref }) };
  return { version, sealed, timestamp: toTimestamp(writtenAt), ...author };
}

/** The base version may be in `ifVersions` instead. */
export type SealedEditRequest = Omit<EditRequest, 'edits'> & { sealed: string };

/** A sealed full text of a version in the log. */
export type SealedSnapshot = { content: string; version: number };

export function decideSealedEdit(text: WorkingText, request: SealedEditRequest, largestContent: number): Decision {
  const { sealed, ifVersions } = request;
  if (!text.isEncrypted) throw notEncrypted('sealed');
  const baseVersion = request.baseVersion ?? (ifVersions?.length === 1 ? ifVersions[0] : undefined);
  const longest = longestSealed(largestContent);
  checkSealed(sealed, 'edit', 'sealed', longest);
  if (baseVersion === undefined) throw baseVersionRequired('baseVersion');
  const earlier = text.findByRef(request);
  if (earlier) return repeated(earlier, (entry) => entry.sealed === sealed);
  if (ifVersions && !ifVersions.includes(text.version)) return conflict('VERSION_CONFLICT', baseVersion);
  if (baseVersion !== text.version) return conflict('EDIT_CONFLICT', baseVersion);
  const { edits, length } = tailOf(text.sinceFullText());
  if (edits >= maxEdits || length + sealed.length > longest)
    return { refusal: compactionRequired, isOutdatedIfCompacted: true };
  return { edits: [], sealed };
}

export function decideSealedReplacement(text: WorkingText, { content, ifVersions }: Replacement, largest: number) {
  checkSealed(content, 'text', 'content', longestSealed(largest));
  if (ifVersions?.length !== 1) throw baseVersionRequired('If-Match');
  const [base = 0] = ifVersions;
  if (base !== text.version) return conflict('VERSION_CONFLICT', base);
  return { edits: [], replacement: content };
}

const conflictMessages = {
  EDIT_CONFLICT: 'Someone else has changed the text. Rebase your edit over the newer ones, and send it again.',
  VERSION_CONFLICT: 'Someone else has changed the text. Nothing was overwritten.',
} satisfies Partial<Record<ErrorCode, string>>;

const conflict = (code: keyof typeof conflictMessages, baseVersion: number): Decision => ({
  refusal(current) {
    const { version, point } = current;
    const details = { version, timestamp: toTimestamp(point.writtenAt), ...newerThan(current, baseVersion) };
    return new PoproomError(code, conflictMessages[code], { details });
  },
});

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

/** Adds the entry to the text in memory, and returns the change for the store. */
export function advanceSealed(
  text: WorkingText,
  entry: TextEntry,
  replacement: string | undefined,
  { revision, keepsCheckpoint }: AdvanceOptions,
): TextAppend {
  const hasCheckpoint = keepsCheckpoint && replacement !== undefined;
  const checkpoint = hasCheckpoint ? planSealedCheckpoint(text, entry.writtenAt) : undefined;
  const { revision: previousRevision, bytes } = text.point;
  noteCheckpoint(text, checkpoint, entry.writtenAt);
  text.add(entry, { document: text.document, bytes, revision });
  text.hasStoredLog = true;
  const append = { entry, revision, previousRevision, content: undefined, checkpoint };
  if (replacement === undefined) return { ...append, compaction: undefined };
  const drop = droppedAt(text, entry.version);
  text.setFullText(replacement, drop.dropThrough);
  return { ...append, compaction: { content: replacement, ...drop } };
}

/** The entries that the log drops when the full text of a version is stored. */
function droppedAt(text: WorkingText, version: number) {
  const through = text.entries.filter((entry) => entry.version <= version);
  const dropThrough = version - newestWithin(through, keptEntries, keptBytes);
  return { dropThrough, keep: logRetention(text), lastRefs: text.lastRefs };
}

/** For the response to an edit. */
export const compactionHint = (text: WorkingText): Pick<WrittenText, 'compact'> =>
  isCompactionDue(tailOf(text.sinceFullText()), text.document.length) ? { compact: true } : {};

interface CompactionDeps extends Pick<CoreDeps, 'texts' | 'bus' | 'clock'> {
  loaded: Pick<ReturnType<typeof createLoadedTexts>, 'load' | 'drop' | 'isCurrent'>;
  charges: ReturnType<typeof createTextCharges> | undefined;
  largestContent: number;
}

/** Fails only if others are faster this many times in a row. */
const maxAttempts = 1000;

/** Replaces the log up to a version by a snapshot. The version and the text stay the same. */
export function createSealedCompaction({ texts, bus, clock, loaded, charges, largestContent }: CompactionDeps) {
  /** The checkpoint of the former full text, unless it does not fit into the quota. */
  async function charge(code: RoomCode, text: WorkingText, content: string): Promise<TextAppend['checkpoint']> {
    for (const keepsCheckpoint of [true, false]) {
      const due = sealedChargeDue(text, { replacement: content }, keepsCheckpoint, clock);
      const limit = due && (await charges?.raise(code, text, due.bytes));
      if (!limit) return keepsCheckpoint ? planSealedCheckpoint(text, clock()) : undefined;
      if (!due.hasCheckpoint) throw textOverQuota(limit);
    }
    return undefined;
  }

  return async (code: RoomCode, { content, version }: SealedSnapshot): Promise<WrittenText> => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const text = await loaded.load(code);
      if (!text.isEncrypted) throw notEncrypted('content');
      checkSealed(content, 'snapshot', 'content', longestSealed(largestContent));
      const checkpoint = await charge(code, text, content);
      const { version: newest, revision, writtenAt } = await text.settle();
      const written = { version, writtenAt: text.since(version - 1)?.[0]?.writtenAt ?? writtenAt };
      if (version <= text.fullTextVersion) return written;
      if (version > newest) {
        // Another node may have written since the text was read.
        if (await loaded.isCurrent(code, text)) throw unknownBase(version, newest);
        continue;
      }
      const current = { version: newest, revision };
      const compaction = { version, content, ...droppedAt(text, version), current, checkpoint };
      const outcome = await texts.compactText(code, compaction, clock());
      loaded.drop(code, text);
      if (orMissing(outcome) === 'stale') continue;
      bus.publish(code, { seq: 0 });
      return written;
    }
    throw changingTooFast();
  };
}
