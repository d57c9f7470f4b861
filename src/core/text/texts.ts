/**
 * The central authority for texts: validates edits, rebases those of older versions, and appends them to the log. The
 * store accepts an entry only for the version it was created for. If another node was faster, the edit is rebased
 * again. So every edit is stored, in one order, and none is rejected because another client was faster.
 */

import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { diffTexts } from '../../text/diff.ts';
import { unlimitedWork } from '../defence/work.ts';
import type { CoreDeps } from '../deps.ts';
import { orMissing, PoproomError, roomMissing } from '../errors.ts';
import type { ClientId } from '../ports/basics.ts';
import type { AppendOutcome, TextEntry } from '../ports/texts.ts';
import type { RoomCode } from '../room-code.ts';
import { longestSealed } from '../sealed.ts';
import {
  type Author,
  changingTooFast,
  checkContent,
  checkSize,
  conflict,
  type Decision,
  decideEdit,
  type Edition,
  type EditRequest,
  type Replacement,
  unknownBase,
  type WrittenText,
} from './edit-decision.ts';
import { advance, chargeDue, createTextCharges, type TextCharging, textOverQuota } from './retention.ts';
import {
  advanceSealed,
  compactionHint,
  createSealedCompaction,
  decideSealedEdit,
  decideSealedReplacement,
  type SealedEditRequest,
} from './sealed-texts.ts';
import { createLoadedTexts, type WorkingText } from './working-text.ts';

export type Texts = ReturnType<typeof createTexts>;

/** Fails only if other nodes are faster this many times in a row. */
const maxAttempts = 1000;
/** An edit of an older version must be made again on the current one. */
const maxEntriesBack = 10_000;
const entriesPerRead = 1000;

export function createTexts(
  { rooms, texts, bus, clock, work = unlimitedWork }: Pick<CoreDeps, 'rooms' | 'texts' | 'bus' | 'clock' | 'work'>,
  /** In bytes of UTF-8. */
  { largestContent }: { largestContent: number },
  charging?: TextCharging,
) {
  const charges = charging && createTextCharges(charging);
  const { cache, load, reload, drop, isCurrent } = createLoadedTexts(rooms, texts, clock);
  /** Unique across nodes: each node counts up from a random number. */
  let lastRevision: number | undefined;
  const maxReplacementBytes = longestSealed(largestContent);

  function nextRevision(): number {
    lastRevision = (lastRevision ?? randomInt(1, 2 ** 47)) + 1;
    return lastRevision;
  }

  async function write(code: RoomCode, author: Author, decide: (text: WorkingText) => Decision): Promise<WrittenText> {
    let keepsCheckpoint = true;
    let isReread = false;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const text = cache.get(code) ?? (await work.measure(author.client, () => reload(code)));
      const { generation, version } = text;
      const decision = work.measure(author.client, () => decideOrRefuse(text, decide));
      if ('written' in decision) {
        if (await isSettled(text)) return decision.written;
        continue;
      }
      if ('since' in decision) {
        const isReadBack = await readBack(code, text, decision.since, author.client);
        if (!isReadBack) throw unknownBase(decision.since, text.version);
        continue;
      }
      if ('refusal' in decision) {
        if (decision.isOutdatedIfCompacted && !isReread) {
          await text.settle();
          drop(code, text);
          isReread = true;
          continue;
        }
        const isSame = (await isCurrent(code, text)) && text.generation === generation && text.version === version;
        if (isSame) throw decision.refusal(text);
        continue;
      }
      const due = text.quota && chargeDue(text, decision, keepsCheckpoint, clock);
      if (due && charges) {
        const limit = await charges.raise(code, text, due.bytes);
        // If the checkpoint does not fit into the quota, the new text alone may.
        if (limit && !due.hasCheckpoint) throw textOverQuota(limit);
        if (limit) keepsCheckpoint = false;
        continue;
      }
      const sent = send(code, text, author, decision, keepsCheckpoint);
      let outcome: AppendOutcome;
      try {
        outcome = await sent.answered;
      } catch (error) {
        drop(code, text);
        throw error;
      } finally {
        text.onResponse();
      }
      const written = finish(code, text, author, sent, outcome);
      if (!written) continue;
      charges?.lowerIfShorter(code, text);
      return written;
    }
    throw changingTooFast();
  }

  /** Whether the store has confirmed all entries of a text. If not, one of them may never have been stored. */
  async function isSettled(text: WorkingText): Promise<boolean> {
    const { generation } = text;
    await text.settle();
    return text.generation === generation;
  }

  /** Reads older entries of the stored log, in parts. Returns whether they go back to a version. */
  async function readBack(code: RoomCode, text: WorkingText, since: number, client?: ClientId): Promise<boolean> {
    if (text.firstBase - since > maxEntriesBack) return false;
    const older: TextEntry[] = [];
    for (let version = since; version < text.firstBase; version = since + older.length) {
      const limit = Math.min(entriesPerRead, text.firstBase - version);
      const found = orMissing(await work.measure(client, () => texts.readEdits(code, version, limit, clock())));
      if (found === 'no-log' || found.length === 0) return false;
      older.push(...found);
      await setImmediate();
    }
    text.extendBack(older.slice(0, Math.max(0, text.firstBase - since)));
    return true;
  }

  /** Adds an edition to the text in memory, and sends it to the store. */
  function send(code: RoomCode, text: WorkingText, author: Author, edition: Edition, keepsCheckpoint: boolean) {
    const { deviceId, ref, origin, run, client } = author;
    const { edits, sealed, replacement } = edition;
    const { generation, point: before } = text;
    const [version, writtenAt] = [text.version + 1, clock()];
    const unsealed = { version, edits, deviceId, ref, writtenAt };
    const entry = sealed === undefined ? unsealed : { ...unsealed, sealed };
    const options = { revision: nextRevision(), keepsCheckpoint, largestContent };
    const change = work.measure(client, () =>
      text.isEncrypted ? advanceSealed(text, entry, replacement, options) : advance(text, entry, edition, options),
    );
    // A text that a program replaces with `POST` was not typed.
    if (replacement === undefined || origin !== undefined) text.isTyped = true;
    const result: WrittenText = text.isEncrypted
      ? { version, writtenAt, ...compactionHint(text) }
      : { version, writtenAt };
    if (run) change.record = run.record(result);
    cache.put(code, text);
    const answered = texts.appendText(code, change);
    text.onAppend(answered);
    return { answered, change, result, generation, before };
  }
  type Sent = ReturnType<typeof send>;

  /** Undefined if another text is current and the edit must be decided again. */
  function finish(code: RoomCode, text: WorkingText, { origin, run }: Author, sent: Sent, outcome: AppendOutcome) {
    const { change, result, generation, before } = sent;
    const { entry } = change;
    if (outcome.outcome === 'appended') {
      if (outcome.logBytes !== undefined) text.noteLogBytes(entry.version, outcome.logBytes);
      // The entry of a replaced sealed text does not contain it, so listeners read the store.
      const isOpaque = text.isEncrypted && entry.sealed === undefined;
      bus.publish(code, isOpaque ? { seq: outcome.seq } : { seq: outcome.seq, entry, origin });
      return result;
    }
    if (outcome.outcome !== 'stale') {
      drop(code, text);
      if (outcome.outcome === 'repeated') return run?.replay(outcome.request);
      throw roomMissing(outcome.outcome);
    }
    if (text.generation !== generation) return undefined;
    // A planned compaction or checkpoint, and later edits, cannot be undone in memory.
    const canRewind = text.pending === 0 && !change.compaction && !change.checkpoint;
    const isReadable = !text.isEncrypted || outcome.entries?.every((newer) => newer.sealed !== undefined);
    if (outcome.entries && canRewind && isReadable) text.rewind(before, outcome.entries, outcome.revision);
    else drop(code, text);
    return undefined;
  }

  const loaded = { load, drop, isCurrent };

  return {
    edit: (code: RoomCode, request: EditRequest | AppendRequest | SealedEditRequest) =>
      write(code, request, (text) => {
        if ('sealed' in request) return decideSealedEdit(text, request, largestContent);
        return decideEdit(text, 'append' in request ? atEnd(text, request) : request);
      }),

    /** Replaces the log of an encrypted room up to a version by a snapshot. */
    compact: createSealedCompaction({ texts, bus, clock, charges, largestContent, loaded }),

    /** Replaces the text by small edits, so that the cursors of others stay in place. */
    replace(code: RoomCode, replacement: Replacement): Promise<WrittenText> {
      const { content, ifVersions } = replacement;
      const bytes = replacement.bytes ?? checkContent(content, maxReplacementBytes);
      return write(code, replacement, (text) => {
        if (text.isEncrypted) return decideSealedReplacement(text, replacement, largestContent);
        checkSize(bytes, largestContent);
        if (ifVersions && !ifVersions.includes(text.version)) return { refusal: conflict };
        const edits = diffTexts(text.document.toString(), content);
        return { edits, replacement: content, replacementBytes: bytes };
      });
    },

    /** Erases the checkpoints and the log. */
    async clearHistory(code: RoomCode): Promise<void> {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const text = await load(code);
        const { version, revision, document } = await text.settle();
        const sealed = text.isEncrypted && { fullTextVersion: text.fullTextVersion };
        const current = { version, revision, content: document.toString(), ...sealed, lastRefs: text.lastRefs };
        const outcome = await texts.clearHistory(code, current, clock());
        drop(code, text);
        if (orMissing(outcome) === 'cleared') return;
      }
      throw changingTooFast();
    },

    /** The entries since a version of a text that was only replaced: the store has no log of it. */
    async replacedSince(code: RoomCode, version: number): Promise<readonly TextEntry[] | undefined> {
      const text = cache.get(code);
      if (!text || text.hasStoredLog || !(await isSettled(text))) return undefined;
      return text.since(version);
    },

    /** Reads a text that is about to be written. The write reports if that fails. */
    prefetch(code: RoomCode): void {
      if (!cache.get(code)) reload(code).catch(() => undefined);
    },

    /** For a room that has ended. */
    forget(code: RoomCode): void {
      const text = cache.get(code);
      if (text) drop(code, text);
    },
  };
}

type AppendRequest = Omit<EditRequest, 'edits' | 'baseVersion'> & { append: string };

/** Adds to the end of the current text. */
function atEnd({ document: { length } }: WorkingText, { append, ...request }: AppendRequest): EditRequest {
  return { ...request, edits: [{ from: length, to: length, insert: append }], baseVersion: undefined };
}

/** An edit that is invalid for a text in memory may be valid for the one that another node has stored meanwhile. */
function decideOrRefuse(text: WorkingText, decide: (text: WorkingText) => Decision): Decision {
  try {
    return decide(text);
  } catch (error) {
    if (error instanceof PoproomError) return { refusal: () => error };
    throw error;
  }
}
