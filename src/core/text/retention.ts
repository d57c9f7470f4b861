/** Retention of a text: its log, its full text and its checkpoints, and the quota that they count against. */

import { TextDocument } from '../../text/document.ts';
import type { TextEdit } from '../../text/edits.ts';
import { PoproomError } from '../errors.ts';
import type { Clock } from '../ports/basics.ts';
import type { ReachedLimit, StorageAccounts, StorageLimits } from '../ports/clients.ts';
import { type HistoryLimits, recentEntries, type TextAppend, type TextEntry } from '../ports/texts.ts';
import type { RoomCode } from '../room-code.ts';
import { quotaDetails } from '../storage-quota.ts';
import { checkSize, type Edition } from './edit-decision.ts';
import { bytesGained, bytesInserted, sizeOf, type WorkingText } from './working-text.ts';

/** The full text is stored again after this many log entries, or when the log is larger than the text. */
const maxEntriesSinceFullText = 2000;
const minLogBytes = 4096;
/** Replaying more edits than this takes noticeable time. */
const maxEditsSinceFullText = 5000;
/** Six people who type without a pause for ten minutes send 36,000 edits at most, of about 170 bytes each. */
const logForMs = 15 * 60_000;
const maxLogBytes = 8 * 1024 * 1024;
const largeEntry = 64 * 1024;
/** For a text without a stored log. Up to twice as many are kept, because dropping them one by one is slower. */
const entriesInMemory = 32;

const historyLimits: HistoryLimits = { checkpoints: 50, bytes: 4 * 1024 * 1024 };
const checkpointAfterMs = 30_000;
/** Until there is a checkpoint. A pause in typing is often this long. */
const firstCheckpointAfterMs = 3_000;
/** A removal is large from half of the text or this many code units. */
const smallestText = 20;
const largeRemoval = 1000;
const removalCheckpointEveryMs = 5000;
/** In code units. A checkpoint of a longer one takes as much time as two replacements of it. */
const longText = 32 * 1024;

export interface AdvanceOptions {
  revision: number;
  keepsCheckpoint: boolean;
  /** In bytes of UTF-8. */
  largestContent: number;
}

/** Adds the entry to the text in memory, and returns the change for the store. */
export function advance(text: WorkingText, entry: TextEntry, edition: Edition, options: AdvanceOptions): TextAppend {
  const { revision, keepsCheckpoint, largestContent } = options;
  const { edits, replacement } = edition;
  const { revision: previousRevision } = text.point;
  // A replaced text is known already, so its edits need not be applied.
  const isNew = replacement !== undefined && edits.length > 0;
  const document = isNew ? TextDocument.of(replacement) : text.document.apply(edits);
  const gained = bytesGained(text.point, edition);
  const bytes = text.point.bytes + gained;
  // A text over a lowered limit can still be shortened.
  if (gained > 0) checkSize(bytes, largestContent);
  const checkpoint = keepsCheckpoint ? planCheckpoint(text, entry) : undefined;
  noteCheckpoint(text, checkpoint, entry.writtenAt);
  text.add(entry, { document, bytes, revision });
  const fullText = replacement === undefined ? undefined : planFullText(text, entry, replacement);
  const compaction = fullText ?? planCompaction(text, largestContent);
  if (compaction) text.noteFullText(fullText ? dropFromMemory(text) : compaction.dropThrough);
  if (fullText) text.noteLogBytes(entry.version, 0);
  // A text that is too large for the log leaves it empty.
  else text.hasStoredLog = compaction?.dropThrough !== entry.version;
  const content = replacement === undefined ? compaction?.content : document.toString();
  return { entry, revision, previousRevision, content, compaction, checkpoint };
}

/** Call this after the entry was added to the text. */
function planCompaction(text: WorkingText, largestContent: number): TextAppend['compaction'] {
  const { entries, bytes, edits } = text.distance;
  const isLong = entries >= maxEntriesSinceFullText || edits >= maxEditsSinceFullText;
  const isDue = isLong || bytes >= Math.max(minLogBytes, text.document.length);
  if (!isDue) return undefined;
  const kept = entriesToKeep(text, largestContent);
  return {
    content: text.document.toString(),
    dropThrough: text.version - kept,
    ...(kept > 0 && { keep: logRetention(text) }),
    lastRefs: text.lastRefs,
  };
}

/** The log reaches back past an outage, so that clients that reconnect get the edits and not the whole text. */
export const logRetention = ({ point }: WorkingText) => ({
  writtenSince: point.writtenAt - logForMs,
  maxBytes: maxLogBytes,
});

/**
 * For a replaced text in a room without a log: storing a short text, or one that is almost all new, is cheaper than a
 * log entry. As long as texts are only replaced, edits of older versions are rebased over the entries in memory. A store
 * may keep the full text of a text that is written again unchanged, which takes 12 % less CPU time.
 */
function planFullText({ hasStoredLog, version, lastRefs }: WorkingText, entry: TextEntry, content: string) {
  // The log also records who wrote a text, for the history.
  if (hasStoredLog || entry.deviceId !== undefined) return undefined;
  if (content.length > minLogBytes && !isTooLargeToLog(entry)) return undefined;
  const isUnchanged = entry.edits.length === 0;
  return { content, dropThrough: version, isLogEmpty: true, isUnchanged, ...(lastRefs.length > 0 && { lastRefs }) };
}

/** The last version whose entry is dropped from memory, for a text without a stored log. */
function dropFromMemory({ entries, version }: WorkingText): number {
  const newest = entries.at(-1);
  if (newest && isTooLargeToLog(newest)) return version;
  return entries.length > 2 * entriesInMemory ? version - entriesInMemory : 0;
}

/** It would be stored twice, in the log and as the full text. */
const isTooLargeToLog = (entry: TextEntry) => entry.ref === undefined && sizeOf(entry) > largeEntry;

/** However old they are. Always keeps the newest, unless it is too large. */
function entriesToKeep({ entries }: WorkingText, maxBytes: number): number {
  const newest = entries.at(-1);
  return !newest || isTooLargeToLog(newest) ? 0 : Math.max(1, newestWithin(entries, recentEntries, maxBytes));
}

/** How many of the newest entries, at most `most`, have up to this many bytes together. */
export function newestWithin(entries: readonly TextEntry[], most: number, maxBytes: number): number {
  let [bytes, kept] = [0, 0];
  for (const entry of entries.slice(-most).toReversed()) {
    bytes += sizeOf(entry);
    if (bytes > maxBytes) break;
    kept += 1;
  }
  return kept;
}

/** Call this before the entry is added, because it needs the current text. */
function planCheckpoint(text: WorkingText, entry: TextEntry): TextAppend['checkpoint'] {
  const { document, version, point } = text;
  if (!isCheckpointDue(text, entry)) return undefined;
  const deviceId = text.entries.at(-1)?.deviceId;
  const { writtenAt, bytes: size } = point;
  const checkpoint = { version, writtenAt, deviceId, size, content: document.toString() };
  return { checkpoint, limits: historyLimits, isFullText: text.fullTextVersion === version };
}

function isCheckpointDue(text: WorkingText, entry: TimedEdits): boolean {
  const { changedSince, keepsHistory, document, checkpointVersion } = text;
  if (!keepsHistory || changedSince === undefined || document.length === 0 || entry.edits.length === 0) return false;
  const afterMs = checkpointVersion === 0 ? firstCheckpointAfterMs : checkpointAfterMs;
  return entry.writtenAt - changedSince >= afterMs || isLargeRemoval(text, entry);
}

type TimedEdits = Pick<TextEntry, 'edits' | 'writtenAt'>;

/** The interval limits how often small edits or a program write a large text to disk. A typed text is always kept. */
function isLargeRemoval({ document, checkpointedAt, isTyped }: WorkingText, { edits, writtenAt }: TimedEdits): boolean {
  const removed = edits.reduce((sum, { from, to }) => sum + to - from, 0);
  const everyMs = isTyped || document.length <= longText ? removalCheckpointEveryMs : checkpointAfterMs;
  const isRecent = Math.abs(writtenAt - checkpointedAt) < everyMs;
  if (document.length >= smallestText && removed >= document.length / 2) return isTyped || !isRecent;
  return removed >= largeRemoval && !isRecent;
}

/** At most this often, a replaced full text becomes a checkpoint. */
const sealedCheckpointEveryMs = 5000;

/** A checkpoint of the full text, which is about to be replaced. */
export function planSealedCheckpoint(text: WorkingText, now: number): TextAppend['checkpoint'] {
  const { keepsHistory, fullTextVersion: version, checkpointVersion, checkpointedAt, point } = text;
  const isDue = version > 0 && version > checkpointVersion && now - checkpointedAt >= sealedCheckpointEveryMs;
  if (!keepsHistory || !isDue) return undefined;
  const entry = text.entries.find((known) => known.version === version);
  const { deviceId, writtenAt } = entry ?? { ...point, deviceId: undefined };
  const checkpoint = { version, writtenAt, deviceId, size: point.bytes, content: text.document.toString() };
  return { checkpoint, limits: historyLimits };
}

/**
 * Long texts are charged to the quota of the client that created the room. A text counts with its log and its history,
 * in steps, so that typing seldom changes the charge. Up to the first step it does not count.
 */
const step = 64 * 1024;
/** The maximum bytes of UTF-8 per UTF-16 code unit. */
const bytesPerUnit = 3;

export type TextCharging = { storage: Pick<StorageAccounts, 'chargeText'>; limits: StorageLimits; clock: Clock };

/** The charge after this change, if it increases. `keepsCheckpoint`: whether a checkpoint may be stored too. */
export function chargeDue(text: WorkingText, change: Edition, keepsCheckpoint: boolean, clock: Clock) {
  const { quota, point } = text;
  if (!quota) return undefined;
  if (text.isEncrypted) return sealedChargeDue(text, change, keepsCheckpoint, clock);
  const { edits } = change;
  const before = point.bytes + text.logBytes + quota.historyBytes;
  const insertedUnits = edits.reduce((sum, { insert }) => sum + insert.length, 0);
  if (before + point.bytes + 2 * bytesPerUnit * insertedUnits <= paidBy(text)) return undefined;

  const hasCheckpoint = keepsCheckpoint && isCheckpointDue(text, { edits, writtenAt: clock() });
  return dueFor(text, before + bytesGained(point, change) + loggedBytes(edits), hasCheckpoint);
}

/** Undefined if the current charge includes it. `hasCheckpoint`: whether it includes one that the edits cause. */
function dueFor(text: WorkingText, withoutCheckpoint: number, hasCheckpoint: boolean) {
  const after = withoutCheckpoint + (hasCheckpoint ? historyGrowth(text) : 0);
  return after <= paidBy(text) ? undefined : { bytes: inSteps(after), hasCheckpoint };
}

const paidBy = ({ quota }: WorkingText) => Math.max(step, quota?.charged ?? 0);

/** The same for an encrypted room. The snapshot of a compaction is a `replacement` too. */
export function sealedChargeDue(
  text: WorkingText,
  { sealed, replacement }: Pick<Edition, 'sealed' | 'replacement'>,
  keepsCheckpoint: boolean,
  clock: Clock,
) {
  const { quota, point } = text;
  if (!quota) return undefined;
  const isReplaced = replacement !== undefined;
  const hasCheckpoint = isReplaced && keepsCheckpoint && planSealedCheckpoint(text, clock()) !== undefined;
  const growth = isReplaced ? replacement.length - point.bytes : (sealed ?? '').length;
  const withoutIt = point.bytes + text.logBytes + quota.historyBytes + growth + sizeOf({ edits: [] });
  return dueFor(text, withoutIt, hasCheckpoint);
}

/** The bytes that the log keeps: a large entry is replaced by the full text. */
function loggedBytes(edits: readonly TextEdit[]): number {
  const bytes = bytesInserted(edits);
  return bytes > largeEntry ? 0 : bytes;
}

/** The growth by a checkpoint of the current text, which may displace the oldest ones. */
const historyGrowth = (text: WorkingText): number =>
  Math.max(0, historyWith(text, text.point.bytes) - (text.quota?.historyBytes ?? 0));

/** The bytes of the history with another checkpoint. They are exact when it has displaced all that were loaded. */
function historyWith({ quota, newCheckpoints }: WorkingText, bytes: number): number {
  const areAll = newCheckpoints.length === historyLimits.checkpoints - 1;
  const before = areAll ? newCheckpoints.reduce((sum, size) => sum + size, 0) : (quota?.historyBytes ?? 0);
  return Math.min(Math.max(historyLimits.bytes, bytes), before + bytes);
}

const inSteps = (bytes: number) => Math.ceil(bytes / step) * step;

/** Records a planned checkpoint, if there is one. The store drops the oldest ones over the limit. */
export function noteCheckpoint(text: WorkingText, planned: TextAppend['checkpoint'], now: number): void {
  if (!planned) return;
  text.noteCheckpoint(now);
  const { quota, newCheckpoints } = text;
  if (!quota) return;
  const bytes = planned.checkpoint.size;
  quota.historyBytes = historyWith(text, bytes);
  newCheckpoints.push(bytes);
  if (newCheckpoints.length === historyLimits.checkpoints) newCheckpoints.shift();
}

/** Changes the charge of a room one at a time, because each change sets the total. */
export function createTextCharges({ storage, limits, clock }: TextCharging) {
  const changing = new Map<RoomCode, Promise<ReachedLimit | undefined>>();

  function run(code: RoomCode, { quota }: WorkingText, bytes: number): Promise<ReachedLimit | undefined> {
    const running = change(code, quota, bytes).finally(() => changing.delete(code));
    changing.set(code, running);
    return running;
  }

  async function change(code: RoomCode, quota: WorkingText['quota'], bytes: number) {
    const limit = quota && (await storage.chargeText({ code, owner: quota.owner, bytes }, limits, clock()));
    if (quota && !limit) quota.charged = bytes;
    return limit;
  }

  return {
    /** Returns the limit if it is exceeded. If the charge is being changed already, it only waits for that. */
    async raise(code: RoomCode, text: WorkingText, bytes: number): Promise<ReachedLimit | undefined> {
      const pending = changing.get(code);
      if (!pending) return run(code, text, bytes);
      await pending.catch(() => undefined);
      return undefined;
    },

    /** For a text that has become much shorter. If this fails, the charge stays until the next attempt. */
    lowerIfShorter(code: RoomCode, text: WorkingText): void {
      const { quota, point } = text;
      if (!quota || quota.charged === 0 || changing.has(code)) return;
      const needed = point.bytes + text.logBytes + quota.historyBytes;
      if (2 * needed < quota.charged) run(code, text, needed <= step ? 0 : inSteps(needed)).catch(() => undefined);
    },
  };
}

export function textOverQuota(limit: ReachedLimit): PoproomError {
  const message =
    'The creator of this room has reached its storage limit. Remove files or texts, or wait until rooms expire.';
  return new PoproomError('QUOTA_EXCEEDED', message, { details: quotaDetails(limit) });
}
