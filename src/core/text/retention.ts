/** Retention of a text: its log, its full text and its checkpoints. */
import {
  type HistoryLimits,
  type LogRetention,
  recentEntries,
  type TextAppend,
  type TextEntry,
} from '../ports/texts.ts';
import { sizeOf, type WorkingText } from './working-text.ts';

/** The full text is stored again after this many log entries, or when the log is larger than the text. */
const maxEntriesSinceFullText = 2000;
const minLogBytes = 4096;
/** Replaying more edits than this takes noticeable time. */
const maxEditsSinceFullText = 5000;
/** Six people who type without a pause for ten minutes send 36,000 edits at most, of about 170 bytes each. */
const logForMs = 15 * 60_000;
const maxLogBytes = 8 * 1024 * 1024;
export const largeEntry = 64 * 1024;
/** For a text without a stored log. Up to twice as many are kept, because dropping them one by one is slower. */
const entriesInMemory = 32;

export const historyLimits: HistoryLimits = { checkpoints: 50, bytes: 4 * 1024 * 1024 };
const checkpointAfterMs = 30_000;
/** Until there is a checkpoint. A pause in typing is often this long. */
const firstCheckpointAfterMs = 3_000;
/** A removal is large from half of the text or this many code units. */
const smallestText = 20;
const largeRemoval = 1000;
const removalCheckpointEveryMs = 5000;
/** In code units. A checkpoint of a longer one takes as much time as two replacements of it. */
const longText = 32 * 1024;

/** Call this after the entry was added to the text. */
export function planCompaction(text: WorkingText, largestContent: number): TextAppend['compaction'] {
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
export const logRetention = ({ point }: WorkingText): LogRetention => ({
  writtenSince: point.writtenAt - logForMs,
  maxBytes: maxLogBytes,
});

/**
 * For a replaced text in a room without a log: storing a short text, or one that is almost all new, is cheaper than a
 * log entry. As long as texts are only replaced, edits of older versions are rebased over the entries in memory.
 */
export function planFullText(
  { hasStoredLog, version, lastRefs }: WorkingText,
  entry: TextEntry,
  content: string,
): TextAppend['compaction'] {
  // The log also records who wrote a text, for the history.
  if (hasStoredLog || entry.deviceId !== undefined) return undefined;
  if (content.length > minLogBytes && !isTooLargeToLog(entry)) return undefined;
  return { content, dropThrough: version, isLogEmpty: true, ...(lastRefs.length > 0 && { lastRefs }) };
}

/** The last version whose entry is dropped from memory, for a text without a stored log. */
export function dropFromMemory({ entries, version }: WorkingText): number {
  const newest = entries.at(-1);
  if (newest && isTooLargeToLog(newest)) return version;
  return entries.length > 2 * entriesInMemory ? version - entriesInMemory : 0;
}

/** It would be stored twice, in the log and as the full text. */
const isTooLargeToLog = (entry: TextEntry) => entry.ref === undefined && sizeOf(entry) > largeEntry;

/** However old they are. Always keeps the newest, unless it is too large. */
function entriesToKeep({ entries }: WorkingText, maxBytes: number): number {
  const newest = entries.at(-1);
  if (newest && isTooLargeToLog(newest)) return 0;
  let bytes = 0;
  let kept = 0;
  for (const entry of entries.slice(-recentEntries).toReversed()) {
    bytes += sizeOf(entry);
    if (kept > 0 && bytes > maxBytes) break;
    kept += 1;
  }
  return kept;
}

/** Call this before the entry is added, because it needs the current text. */
export function planCheckpoint(text: WorkingText, entry: TextEntry): TextAppend['checkpoint'] {
  const { document, version, point } = text;
  if (!isCheckpointDue(text, entry)) return undefined;
  const deviceId = text.entries.at(-1)?.deviceId;
  const { writtenAt, bytes: size } = point;
  const checkpoint = { version, writtenAt, deviceId, size, content: document.toString() };
  return { checkpoint, limits: historyLimits, isFullText: text.fullTextVersion === version };
}

export function isCheckpointDue(text: WorkingText, entry: Edition): boolean {
  const { changedSince, keepsHistory, document, checkpointVersion } = text;
  if (!keepsHistory || changedSince === undefined || document.length === 0) return false;
  const afterMs = checkpointVersion === 0 ? firstCheckpointAfterMs : checkpointAfterMs;
  return entry.writtenAt - changedSince >= afterMs || isLargeRemoval(text, entry);
}

type Edition = Pick<TextEntry, 'edits' | 'writtenAt'>;

/**
 * The interval keeps small edits of a large text, and a program that replaces its own text, from writing it to disk
 * repeatedly. A text that someone typed is always kept.
 */
function isLargeRemoval({ document, checkpointedAt, isTyped }: WorkingText, { edits, writtenAt }: Edition): boolean {
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
  const { deviceId, writtenAt } = text.entries.find((entry) => entry.version === version) ?? {
    deviceId: undefined,
    writtenAt: point.writtenAt,
  };
  const checkpoint = { version, writtenAt, deviceId, size: point.bytes, content: text.document.toString() };
  return { checkpoint, limits: historyLimits };
}
