/**
 * The authority over the texts of all rooms: checks edits, rebases those of older versions, and appends them to the log.
 * The store accepts an entry only on the version it was made for; when another node was faster, the edit is rebased
 * again. So every edit is stored, in one order, and none is refused because someone else was quicker.
 */

import { diffTexts } from '../../text/diff.ts';
import type { TextEdit } from '../../text/edits.ts';
import { roomOver } from '../admission.ts';
import { PoproomError } from '../errors.ts';
import type { Parts } from '../parts.ts';
import type { Content, TextAppend, TextEntry } from '../ports.ts';
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
import { planCheckpoint, planCompaction } from './retention.ts';
import { TextCache } from './text-cache.ts';
import { bytesGained, WorkingText } from './working-text.ts';

export interface TextRules {
  /** Bytes of UTF-8. */
  largestContent: number;
}

/** Who writes, and how the change is recognised. */
export interface Author {
  deviceId?: string | undefined;
  ref?: string | undefined;
  /** The live channel that it came by. */
  origin?: string | undefined;
}

export interface EditRequest extends Author {
  edits: readonly TextEdit[];
  /** The version that the edits were made for; undefined is the current one. */
  baseVersion: number | undefined;
  /** Edit only if the current version is one of these. */
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

/** What to do with a text, decided without waiting: the edits to append, a finished answer, or a conflict. */
type Decision = { edits: readonly TextEdit[]; content?: string } | { written: WrittenText } | { error: Refusal };

/** Checked again with a text read from the store before it is believed: another node may have written. */
type Refusal = (text: WorkingText) => PoproomError;

/** Others would have to be faster this many times in a row. */
const maxAttempts = 100;
/** Rebasing takes time for each edit and each newer entry; past this product the client reads the text again. */
const maxRebaseSteps = 50_000;
/** From so many on, looking up their positions in a text that is in pieces takes longer than joining it. */
const manyEdits = 16;

export function createTexts({ rooms, bus, clock }: Pick<Parts, 'rooms' | 'bus' | 'clock'>, rules: TextRules) {
  const cache = new TextCache();
  const loading = new Map<RoomCode, Promise<WorkingText>>();

  function load(code: RoomCode): WorkingText | Promise<WorkingText> {
    return cache.get(code) ?? reload(code);
  }

  /** One read at a time for each room. */
  function reload(code: RoomCode): Promise<WorkingText> {
    const underWay = loading.get(code);
    if (underWay) return underWay;
    const reading = read(code).finally(() => loading.delete(code));
    loading.set(code, reading);
    return reading;
  }

  async function read(code: RoomCode): Promise<WorkingText> {
    const stored = await rooms.readText(code, clock());
    if (typeof stored === 'string') throw roomOver(stored);
    const text = new WorkingText(stored);
    cache.put(code, text);
    return text;
  }

  async function write(code: RoomCode, author: Author, decide: (text: WorkingText) => Decision): Promise<WrittenText> {
    let isFresh = false;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const text = await load(code);
      const decision = decide(text);
      if ('written' in decision) return decision.written;
      if ('error' in decision) {
        if (isFresh && text.pending === 0) throw decision.error(text);
        isFresh = true;
        await refresh(code, text);
        continue;
      }
      const written = await append(code, text, author, decision);
      if (written) return written;
    }
    throw new PoproomError('UNAVAILABLE', 'The text is changing too fast; try again.', { retryAfter: 1 });
  }

  /** Forgets what was not stored yet, or was stored elsewhere since. */
  async function refresh(code: RoomCode, text: WorkingText): Promise<void> {
    await text.settled;
    if (cache.get(code) === text) cache.delete(code);
  }

  /** Undefined when the text was another one, and the edit has to be decided on again. */
  async function append(
    code: RoomCode,
    text: WorkingText,
    { deviceId, ref, origin }: Author,
    { edits, content }: { edits: readonly TextEdit[]; content?: string },
  ): Promise<WrittenText | undefined> {
    const { generation, point } = text;
    const entry = { version: text.version + 1, edits, deviceId, ref, writtenAt: clock() };
    const change = advance(text, entry, content);
    cache.put(code, text);
    const outcome = await text.track(rooms.appendText(code, change)).catch((error) => {
      drop(code, text);
      throw error;
    });
    if (outcome.outcome === 'appended') {
      bus.publish(code, { seq: outcome.seq, entry, origin });
      return { version: entry.version, writtenAt: entry.writtenAt };
    }
    if (outcome.outcome !== 'stale') {
      drop(code, text);
      throw roomOver(outcome.outcome);
    }
    if (text.generation !== generation) return undefined;
    // What was planned for the store, by this edit or by those after it, cannot be taken back in memory.
    const canRewind = text.pending === 0 && !change.compaction && !change.checkpoint;
    if (outcome.entries && canRewind) text.rewind(point, outcome.entries);
    else drop(code, text);
    return undefined;
  }

  function drop(code: RoomCode, text: WorkingText): void {
    text.generation += 1;
    if (cache.get(code) === text) cache.delete(code);
  }

  /** Adds the entry to the text in memory, and says what the store has to do. */
  function advance(text: WorkingText, entry: TextEntry, content: string | undefined): TextAppend {
    const bytes = text.point.bytes + bytesGained(text.document, entry.edits);
    // A text that is too long since the limit was lowered can still be shortened.
    if (bytes > text.point.bytes) checkSize(bytes, rules.largestContent);
    const checkpoint = planCheckpoint(text, entry);
    if (checkpoint) text.noteCheckpoint(checkpoint.checkpoint.version);
    text.add(entry, bytes);
    const compaction = planCompaction(text, rules.largestContent);
    if (compaction) text.noteFullText(compaction.dropThrough);
    return { entry, content: content ?? compaction?.content, compaction, checkpoint };
  }

  function decideEdit(text: WorkingText, request: EditRequest): Decision {
    const { edits, deviceId, ref, ifVersions, baseVersion = text.version } = request;
    const earlier = deviceId !== undefined && ref !== undefined ? text.findByRef(deviceId, ref) : undefined;
    if (earlier) return repeated(earlier, edits);
    if (ifVersions && !ifVersions.includes(text.version)) return { error: conflict };
    const newer = text.since(baseVersion);
    const isRebasable = newer && newer.length * edits.length <= maxRebaseSteps;
    if (!isRebasable) return { error: ({ version }) => unknownBase(baseVersion, version) };
    checkEdits(edits, text.lengthAt(newer));
    const rebased = text.rebase(edits, deviceId, newer);
    if (rebased.length > manyEdits) text.document.toString();
    checkPairs(rebased, text.document);
    return { edits: rebased };
  }

  return {
    edit(code: RoomCode, request: EditRequest): Promise<WrittenText> {
      return write(code, request, (text) => decideEdit(text, request));
    },

    /** Adds to the end, whatever that is by then. */
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

    /** Makes this the whole text, by the smallest edits, so that the carets of others stay where they are. */
    async replace(code: RoomCode, { content, ifVersions, ...author }: Replacement): Promise<WrittenText> {
      checkContent(content, rules.largestContent);
      return write(code, author, (text) => {
        if (ifVersions && !ifVersions.includes(text.version)) return { error: conflict };
        return { edits: diffTexts(text.document.toString(), content), content };
      });
    },

    /** For a room whose text or history was changed in another way than by an edit. */
    forget(code: RoomCode): void {
      const text = cache.get(code);
      if (text) drop(code, text);
    },

    /** The entries after a version, up to the current one; undefined when the log does not reach back that far. */
    async since(code: RoomCode, version: number): Promise<readonly TextEntry[] | undefined> {
      const text = await load(code);
      await text.settled;
      return text.since(version);
    },
  };
}

/** The same edit sent again, after its answer was lost. Rebasing moves edits, but changes nothing that they insert. */
function repeated({ version, writtenAt, edits }: TextEntry, again: readonly TextEdit[]): Decision {
  if (insertedBy(edits) !== insertedBy(again)) return { error: () => reusedRef(version) };
  return { written: { version, writtenAt } };
}

const insertedBy = (edits: readonly TextEdit[]) => edits.map(({ insert }) => insert).join('');

const conflict: Refusal = (text) => versionConflict(contentOf(text));

export function contentOf({ document, version, point }: WorkingText): Content {
  return { content: document.toString(), version, writtenAt: point.writtenAt };
}
