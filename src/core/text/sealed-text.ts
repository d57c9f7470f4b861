/** The text of an encrypted room: its last full text, and the sealed edits since. */
import type { SealedEdit } from '../../protocol/types.ts';
import type { Content, TextAppend, TextEntry } from '../ports.ts';
import { toTimestamp } from '../timestamp.ts';
import { historyLimits } from './retention.ts';
import { sizeOf, type WorkingText } from './working-text.ts';

/** A client is asked for a snapshot from this many edits, or when they are longer than the full text and this. */
const manyEdits = 200;
const longLog = 80 * 1024;
/** Beyond this, edits are refused until a snapshot is stored. */
const maxEdits = 1000;
/** Edits up to the full text that stay in the log however old they are, and in memory. */
const keptEntries = 100;
const keptBytes = 64 * 1024;
/** At most this often, a replaced full text becomes a checkpoint. */
const checkpointEveryMs = 5000;

export interface SealedContent extends Content {
  contentVersion: number;
  sealedEdits: SealedEdit[];
}

/** The sealed edits since the full text. */
export interface SealedTail {
  edits: number;
  /** The total of their lengths. */
  length: number;
}

export const tailOf = (entries: readonly TextEntry[]): SealedTail => ({
  edits: entries.length,
  length: entries.reduce((sum, { sealed = '' }) => sum + sealed.length, 0),
});

export const isCompactionDue = ({ edits, length }: SealedTail, fullTextLength: number): boolean =>
  edits >= manyEdits || length > Math.max(longLog, fullTextLength);

/** Whether another edit of this length fits into the log. */
export const fitsInLog = (tail: SealedTail, length: number, longest: number): boolean =>
  tail.edits < maxEdits && tail.length + length <= longest;

/** The entry must not be one that replaced the text. */
export function sealedEditOf({ version, sealed = '', writtenAt, deviceId, ref }: TextEntry): SealedEdit {
  return {
    version,
    sealed,
    timestamp: toTimestamp(writtenAt),
    ...(deviceId !== undefined && { deviceId }),
    ...(ref !== undefined && { ref }),
  };
}

/** The version through which the log is dropped when a full text of `version` is stored. */
export function dropThrough({ entries }: WorkingText, version: number): number {
  let [bytes, kept] = [0, 0];
  for (const entry of entries.toReversed()) {
    if (entry.version > version) continue;
    bytes += sizeOf(entry);
    if (bytes > keptBytes || kept === keptEntries) break;
    kept += 1;
  }
  return version - kept;
}

/** A checkpoint of the full text, which is about to be replaced. */
export function planSealedCheckpoint(text: WorkingText, now: number): TextAppend['checkpoint'] {
  const { keepsHistory, fullTextVersion: version, checkpointVersion, checkpointedAt, point } = text;
  const isDue = version > 0 && version > checkpointVersion && now - checkpointedAt >= checkpointEveryMs;
  if (!keepsHistory || !isDue) return undefined;
  const { deviceId, writtenAt } = text.entries.find((entry) => entry.version === version) ?? {
    deviceId: undefined,
    writtenAt: point.writtenAt,
  };
  const checkpoint = { version, writtenAt, deviceId, size: point.bytes, content: text.document.toString() };
  return { checkpoint, limits: historyLimits };
}
