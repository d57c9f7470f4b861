/** Retention of a text: its log, its full text and its checkpoints. */
import type { HistoryLimits, TextAppend, TextEntry } from '../ports.ts';
import { sizeOf, type WorkingText } from './working-text.ts';

/** The full text is stored again after this many log entries, or when the log is larger than the text. */
const maxEntriesSinceFullText = 2000;
const minLogBytes = 4096;
/** Replaying more edits than this takes noticeable time. */
const maxEditsSinceFullText = 5000;
/** Entries that stay in the log, for clients that reconnect and edits of older versions. */
const keptEntries = 500;
export const largeEntry = 64 * 1024;
/** For a text without a stored log. Up to twice as many are kept, because dropping them one by one is slower. */
export const entriesInMemory = 32;

export const historyLimits: HistoryLimits = { checkpoints: 50, bytes: 4 * 1024 * 1024 };
const checkpointAfterMs = 30_000;
/** A removal is large from half of the text or this many code units. The latter creates checkpoints less often. */
const smallestText = 20;
const largeRemoval = 1000;
const removalCheckpointEveryMs = 5000;

/** Call this after the entry was added to the text. */
export function planCompaction(text: WorkingText, largestContent: number): TextAppend['compaction'] {
  const { entries, bytes, edits } = text.distance;
  const isLong = entries >= maxEntriesSinceFullText || edits >= maxEditsSinceFullText;
  const isDue = isLong || bytes >= Math.max(minLogBytes, text.document.length);
  if (!isDue) return undefined;
  return { content: text.document.toString(), dropThrough: text.version - entriesToKeep(text, largestContent) };
}

/**
 * For a replaced text in a room without a log: storing a short text is cheaper than a log entry. As long as texts are
 * only replaced, edits of older versions are rebased over the entries in memory.
 */
export function planFullText(
  { hasStoredLog, version }: WorkingText,
  { deviceId }: TextEntry,
  content: string,
): TextAppend['compaction'] {
  // The log also records who wrote a text, for the history.
  if (hasStoredLog || deviceId !== undefined || content.length > minLogBytes) return undefined;
  return { content, dropThrough: version, isLogEmpty: true };
}

/** Always keeps the newest, unless it is large and has no ref, because it would be stored twice. */
function entriesToKeep({ entries }: WorkingText, maxBytes: number): number {
  const newest = entries.at(-1);
  if (newest && newest.ref === undefined && sizeOf(newest) > largeEntry) return 0;
  let bytes = 0;
  let kept = 0;
  for (const entry of entries.toReversed()) {
    bytes += sizeOf(entry);
    if (kept > 0 && (bytes > maxBytes || kept === keptEntries)) break;
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
  return { checkpoint, limits: historyLimits };
}

export function isCheckpointDue(text: WorkingText, entry: Edition): boolean {
  const { changedSince, keepsHistory, document } = text;
  if (!keepsHistory || changedSince === undefined || document.length === 0) return false;
  return entry.writtenAt - changedSince >= checkpointAfterMs || isLargeRemoval(text, entry);
}

type Edition = Pick<TextEntry, 'edits' | 'writtenAt'>;

/** The interval keeps small edits of a large text from writing it to disk repeatedly. */
function isLargeRemoval({ document, checkpointedAt }: WorkingText, { edits, writtenAt }: Edition): boolean {
  const removed = edits.reduce((sum, { from, to }) => sum + to - from, 0);
  if (document.length >= smallestText && removed >= document.length / 2) return true;
  return removed >= largeRemoval && writtenAt - checkpointedAt >= removalCheckpointEveryMs;
}
