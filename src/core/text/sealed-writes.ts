/** Changes of the text of an encrypted room: edits, replacements and snapshots. */
import { roomMissing } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import type { TextAppend, TextEntry } from '../ports.ts';
import type { RoomCode } from '../room-code.ts';
import { checkSealed, longestSealed, notEncrypted } from '../sealed.ts';
import type { WrittenText } from './edit-decision.ts';
import { changingTooFast, unknownBase } from './edit-rules.ts';
import { type createLoadedTexts, settle } from './loaded-texts.ts';
import { logRetention } from './retention.ts';
import type { SealedSnapshot } from './sealed-decision.ts';
import { dropThrough, isCompactionDue, planSealedCheckpoint, tailOf } from './sealed-text.ts';
import { type createTextCharges, noteHistory, sealedChargeDue, textOverQuota } from './text-charge.ts';
import type { WorkingText } from './working-text.ts';

interface SealedChange {
  revision: number;
  /** The whole text, if it is replaced. */
  replacement: string | undefined;
  checkpoint: TextAppend['checkpoint'];
}

/** Adds the entry to the text in memory, and returns the change for the store. */
export function advanceSealed(text: WorkingText, entry: TextEntry, change: SealedChange): TextAppend {
  const { revision, replacement, checkpoint } = change;
  const { revision: previousRevision, bytes } = text.point;
  if (checkpoint) {
    text.noteCheckpoint(entry.writtenAt);
    noteHistory(text, checkpoint.checkpoint.size);
  }
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
  return { dropThrough: dropThrough(text, version), keep: logRetention(text), lastRefs: text.lastRefs };
}

/** For the response to an edit. */
export function compactionHint(text: WorkingText): Pick<WrittenText, 'compact'> {
  if (!text.isEncrypted) return {};
  return isCompactionDue(tailOf(text.sinceFullText()), text.document.length) ? { compact: true } : {};
}

interface CompactionParts extends Pick<CoreDeps, 'texts' | 'bus' | 'clock'> {
  loaded: Pick<ReturnType<typeof createLoadedTexts>, 'load' | 'drop' | 'isCurrent'>;
  charges: ReturnType<typeof createTextCharges> | undefined;
  largestContent: number;
}

/** Fails only if others are faster this many times in a row. */
const maxAttempts = 1000;

/** Replaces the log up to a version by a snapshot. The version and the text stay the same. */
export function createSealedCompaction({ texts, bus, clock, loaded, charges, largestContent }: CompactionParts) {
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
      const { version: newest, revision, writtenAt } = await settle(text);
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
      if (outcome === 'compacted') {
        bus.publish(code, { seq: 0 });
        return written;
      }
      if (outcome !== 'stale') throw roomMissing(outcome);
    }
    throw changingTooFast();
  };
}
