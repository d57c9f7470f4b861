/** How much is kept of the past of a text: its log, its full text, and its checkpoints. */
import type { TextEdit } from '../../text/edits.ts';
import type { HistoryLimits, TextAppend, TextEntry } from '../ports.ts';
import { sizeOf, type WorkingText } from './working-text.ts';

/** The full text is stored again when the log since then has this many entries, or takes more than the text itself. */
const maxEntriesSinceFullText = 1000;
const minLogBytes = 4096;
/** Entries that stay in the log, for clients that reconnect and edits of older versions. */
const keptEntries = 500;
const largeEntry = 64 * 1024;

export const historyLimits: HistoryLimits = { checkpoints: 50, bytes: 4 * 1024 * 1024 };
const checkpointAfterMs = 30_000;
/** A removal counts as large from so many code units on, or from half of a text of at least the smaller number. */
const largeRemoval = 1000;
const smallestText = 20;

/** To be asked after the entry was added to the text. */
export function planCompaction(text: WorkingText, largestContent: number): TextAppend['compaction'] {
  const { entries, bytes } = text.distance;
  const isDue = entries >= maxEntriesSinceFullText || bytes >= Math.max(minLogBytes, text.document.length);
  if (!isDue) return undefined;
  return { content: text.document.toString(), dropThrough: text.version - entriesToKeep(text, largestContent) };
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
  const { changedSince, keepsHistory, document, version, point } = text;
  if (!keepsHistory || changedSince === undefined || document.length === 0) return undefined;
  const isDue = entry.writtenAt - changedSince >= checkpointAfterMs || isLargeRemoval(entry.edits, document.length);
  if (!isDue) return undefined;
  const deviceId = text.entries.at(-1)?.deviceId;
  const { writtenAt, bytes: size } = point;
  const checkpoint = { version, writtenAt, deviceId, size, content: document.toString() };
  return { checkpoint, limits: historyLimits };
}

function isLargeRemoval(edits: readonly TextEdit[], length: number): boolean {
  const removed = edits.reduce((sum, { from, to }) => sum + to - from, 0);
  return removed >= largeRemoval || (length >= smallestText && removed >= length / 2);
}
