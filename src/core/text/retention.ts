/** How much is kept of the past of a text: its log, its full text, and its checkpoints. */
import type { HistoryLimits, TextAppend, TextEntry } from '../ports.ts';
import { sizeOf, type WorkingText } from './working-text.ts';

/** The full text is stored again when the log since then has this many entries, or takes more than the text itself. */
const maxEntriesSinceFullText = 2000;
const minLogBytes = 4096;
/** Replaying more edits than this takes noticeable time. */
const maxEditsSinceFullText = 5000;
/** Entries that stay in the log, for clients that reconnect and edits of older versions. */
const keptEntries = 500;
export const largeEntry = 64 * 1024;
/** Of a text that has no log; twice as many for a while, since dropping them one by one takes longer. */
export const entriesInMemory = 32;

export const historyLimits: HistoryLimits = { checkpoints: 50, bytes: 4 * 1024 * 1024 };
const checkpointAfterMs = 30_000;
/** A removal is large from half of the text on, or from so many code units. The latter is kept only now and then. */
const smallestText = 20;
const largeRemoval = 1000;
const removalCheckpointEveryMs = 5000;

/** To be asked after the entry was added to the text. */
export function planCompaction(text: WorkingText, largestContent: number): TextAppend['compaction'] {
  const { entries, bytes, edits } = text.distance;
  const isLong = entries >= maxEntriesSinceFullText || edits >= maxEditsSinceFullText;
  const isDue = isLong || bytes >= Math.max(minLogBytes, text.document.length);
  if (!isDue) return undefined;
  return { content: text.document.toString(), dropThrough: text.version - entriesToKeep(text, largestContent) };
}

/**
 * For a text that replaces another in a room without a log: a short text is cheaper to store than an entry of the log.
 * As long as texts are only replaced, edits of older versions are rebased over the entries in memory.
 */
export function planFullText(
  { hasStoredLog, version }: WorkingText,
  { deviceId }: TextEntry,
  content: string,
): TextAppend['compaction'] {
  // The log also says who wrote a text, for the history.
  if (hasStoredLog || deviceId !== undefined || content.length > minLogBytes) return undefined;
  return { content, dropThrough: version, isLogEmpty: true };
}

/** The newest stays in any case, unless it is large and nobody has to recognise it: it would be stored twice. */
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

/** To be asked before the entry is added: the text as it is would be lost. */
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

/** Otherwise small edits of a large text could have it written to the disk again and again. */
function isLargeRemoval({ document, checkpointedAt }: WorkingText, { edits, writtenAt }: Edition): boolean {
  const removed = edits.reduce((sum, { from, to }) => sum + to - from, 0);
  if (document.length >= smallestText && removed >= document.length / 2) return true;
  return removed >= largeRemoval && writtenAt - checkpointedAt >= removalCheckpointEveryMs;
}
