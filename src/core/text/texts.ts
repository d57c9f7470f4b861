/**
 * The central authority for texts: validates edits, rebases those of older versions, and appends them to the log. The
 * store accepts an entry only for the version it was created for. If another node was faster, the edit is rebased
 * again. So every edit is stored, in one order, and none is rejected because another client was faster.
 */

import { randomInt } from 'node:crypto';
import { maxEdits } from '../../protocol/fields.ts';
import { diffTexts } from '../../text/diff.ts';
import type { TextEdit } from '../../text/edits.ts';
import { roomMissing } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import { PoproomError } from '../errors.ts';
import type { AppendOutcome, Content, TextAppend, TextEntry } from '../ports.ts';
import type { RoomCode } from '../room-code.ts';
import {
  checkContent,
  checkEdits,
  checkPairs,
  checkSize,
  reusedRef,
  unknownBase,
  versionConflict,
} from './edit-rules.ts';
import { entriesInMemory, planCheckpoint, planCompaction, planFullText } from './retention.ts';
import { TextCache } from './text-cache.ts';
import { chargeDue, createTextCharges, noteHistory, type TextCharging, textOverQuota } from './text-charge.ts';
import { bytesGained, type TextPoint, WorkingText } from './working-text.ts';

export interface TextRules {
  /** Bytes of UTF-8. */
  largestContent: number;
}

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

export interface Replacement extends Author {
  content: string;
  ifVersions?: readonly number[] | undefined;
}

export interface WrittenText {
  version: number;
  writtenAt: number;
}

export type Texts = ReturnType<typeof createTexts>;

/** A synchronous decision: edits to append, a result that exists already, or a rejection. */
type Decision = Edition | { written: WrittenText } | { refusal: Refusal };

interface Edition {
  edits: readonly TextEdit[];
  /** The whole text after the edits, if they replace it. */
  replacement?: string;
}

/** Creates the error if the text is current: another node may have written since it was read. */
type Refusal = (text: WorkingText) => PoproomError;

/** Fails only if other nodes are faster this many times in a row. */
const maxAttempts = 1000;
/** Limits the time for rebasing, which grows with edits and newer entries. Beyond it, the client must read again. */
const maxRebaseSteps = 20_000;
/** From this number on, looking up positions in a document of pieces takes longer than joining them. */
const manyEdits = 16;

export function createTexts(
  { rooms, bus, clock }: Pick<CoreDeps, 'rooms' | 'bus' | 'clock'>,
  rules: TextRules,
  charging?: TextCharging,
) {
  const charges = charging && createTextCharges(charging);
  const cache = new TextCache();
  const nextRevision = createRevisions();
  const loading = new Map<RoomCode, Promise<WorkingText>>();

  function load(code: RoomCode): WorkingText | Promise<WorkingText> {
    return cache.get(code) ?? reload(code);
  }

  /** Reads each room once at a time. */
  function reload(code: RoomCode): Promise<WorkingText> {
    const pending = loading.get(code);
    if (pending) return pending;
    const reading = read(code).finally(() => loading.delete(code));
    loading.set(code, reading);
    return reading;
  }

  async function read(code: RoomCode): Promise<WorkingText> {
    const stored = await rooms.readText(code, clock());
    if (typeof stored === 'string') throw roomMissing(stored);
    const text = new WorkingText(stored);
    cache.put(code, text);
    return text;
  }

  async function write(code: RoomCode, author: Author, decide: (text: WorkingText) => Decision): Promise<WrittenText> {
    let keepsCheckpoint = true;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const text = cache.get(code) ?? (await reload(code));
      const decision = decide(text);
      if ('written' in decision) return decision.written;
      if ('refusal' in decision) {
        if (await isCurrent(code, text)) throw decision.refusal(text);
        continue;
      }
      const due = text.quota && chargeDue(text, decision.edits, keepsCheckpoint, clock);
      if (due && charges) {
        const limit = await charges.raise(code, text, due.bytes);
        // If the checkpoint does not fit into the quota, the new text alone may.
        if (limit && !due.hasCheckpoint) throw textOverQuota(limit);
        if (limit) keepsCheckpoint = false;
        continue;
      }
      const written = await append(code, text, author, decision, keepsCheckpoint);
      if (!written) continue;
      charges?.lowerIfShorter(code, text);
      return written;
    }
    throw new PoproomError('UNAVAILABLE', 'The text is changing too fast. Try again in 1 second.', { retryAfter: 1 });
  }

  /** Whether the store has this text and nothing newer. If not, it will be read again. */
  async function isCurrent(code: RoomCode, text: WorkingText): Promise<boolean> {
    const { version } = await settle(text);
    const state = await rooms.readState(code, clock(), version);
    if (typeof state === 'string') throw roomMissing(state);
    if (state.text.version === version && text.version === version) return true;
    if (text.pending === 0) drop(code, text);
    return false;
  }

  /** Waits until the store has confirmed all appends. */
  async function settle(text: WorkingText): Promise<TextPoint> {
    await text.settle();
    return text.point;
  }

  /** Undefined if another text is current and the edit must be decided again. */
  async function append(
    code: RoomCode,
    text: WorkingText,
    { deviceId, ref, origin }: Author,
    { edits, replacement }: Edition,
    keepsCheckpoint: boolean,
  ): Promise<WrittenText | undefined> {
    const { generation, point } = text;
    const entry = { version: text.version + 1, edits, deviceId, ref, writtenAt: clock() };
    const change = advance(text, entry, replacement, keepsCheckpoint);
    cache.put(code, text);
    const answered = rooms.appendText(code, change);
    text.onAppend(answered);
    let outcome: AppendOutcome;
    try {
      outcome = await answered;
    } catch (error) {
      drop(code, text);
      throw error;
    } finally {
      text.onResponse();
    }
    if (outcome.outcome === 'appended') {
      bus.publish(code, { seq: outcome.seq, entry, origin });
      return { version: entry.version, writtenAt: entry.writtenAt };
    }
    if (outcome.outcome !== 'stale') {
      drop(code, text);
      throw roomMissing(outcome.outcome);
    }
    if (text.generation !== generation) return undefined;
    // A planned compaction or checkpoint, and later edits, cannot be undone in memory.
    const canRewind = text.pending === 0 && !change.compaction && !change.checkpoint;
    if (outcome.entries && canRewind) text.rewind(point, outcome.entries, outcome.revision);
    else drop(code, text);
    return undefined;
  }

  function drop(code: RoomCode, text: WorkingText): void {
    text.generation += 1;
    if (cache.get(code) === text) cache.delete(code);
  }

  /** Adds the entry to the text in memory, and returns the change for the store. */
  function advance(
    text: WorkingText,
    entry: TextEntry,
    replacement: string | undefined,
    keepsCheckpoint: boolean,
  ): TextAppend {
    const bytes = text.point.bytes + bytesGained(text.document, entry.edits);
    // A text over a lowered limit can still be shortened.
    if (bytes > text.point.bytes) checkSize(bytes, rules.largestContent);
    const { revision: previousRevision } = text.point;
    const revision = nextRevision();
    const checkpoint = keepsCheckpoint ? planCheckpoint(text, entry) : undefined;
    if (checkpoint) {
      text.noteCheckpoint(entry.writtenAt);
      noteHistory(text, checkpoint.checkpoint.size);
    }
    text.add(entry, { bytes, revision });
    const fullText = replacement === undefined ? undefined : planFullText(text, entry, replacement);
    const compaction = fullText ?? planCompaction(text, rules.largestContent);
    if (fullText) text.noteFullText(text.entries.length > 2 * entriesInMemory ? entry.version - entriesInMemory : 0);
    else if (compaction) text.noteFullText(compaction.dropThrough);
    text.hasStoredLog ||= !fullText;
    return { entry, revision, previousRevision, content: replacement ?? compaction?.content, compaction, checkpoint };
  }

  function decideEdit(text: WorkingText, request: EditRequest): Decision {
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

  return {
    edit(code: RoomCode, request: EditRequest): Promise<WrittenText> {
      return write(code, request, (text) => decideEdit(text, request));
    },

    /** Adds to the end of the current text. */
    append(code: RoomCode, insert: string, { ifVersions, ...author }: Omit<EditRequest, 'edits' | 'baseVersion'>) {
      return write(code, author, (text) => {
        const end = text.document.length;
        return decideEdit(text, {
          ...author,
          ifVersions,
          edits: [{ from: end, to: end, insert }],
          baseVersion: undefined,
        });
      });
    },

    /** Replaces the text by the smallest edits, so that the cursors of others stay in place. */
    async replace(code: RoomCode, replacement: Replacement): Promise<WrittenText> {
      const { content, ifVersions } = replacement;
      checkContent(content, rules.largestContent);
      return write(code, replacement, (text) => {
        if (ifVersions && !ifVersions.includes(text.version)) return { refusal: conflict };
        return { edits: diffTexts(text.document.toString(), content), replacement: content };
      });
    },

    /** Erases the checkpoints and the log. */
    async clearHistory(code: RoomCode): Promise<void> {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const text = await load(code);
        const { version, revision, document } = await settle(text);
        const outcome = await rooms.clearHistory(code, { version, revision, content: document.toString() }, clock());
        drop(code, text);
        if (outcome === 'cleared') return;
        if (outcome !== 'stale') throw roomMissing(outcome);
      }
      throw new PoproomError('UNAVAILABLE', 'The text is changing too fast. Try again in 1 second.', { retryAfter: 1 });
    },

    /** For a room that has ended. */
    forget(code: RoomCode): void {
      const text = cache.get(code);
      if (text) drop(code, text);
    },

    /** The entries after a version; undefined if the log does not go back that far. */
    async since(code: RoomCode, version: number): Promise<readonly TextEntry[] | undefined> {
      const text = await load(code);
      await settle(text);
      return text.since(version);
    },
  };
}

/** Unique across nodes: each node counts up from a random number. */
function createRevisions(): () => number {
  let last = randomInt(1, 2 ** 47);
  return () => {
    last += 1;
    return last;
  };
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

const conflict: Refusal = (text) => versionConflict(contentOf(text));

function contentOf({ document, version, point }: WorkingText): Content {
  return { content: document.toString(), version, writtenAt: point.writtenAt };
}
