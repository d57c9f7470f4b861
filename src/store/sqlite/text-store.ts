/** The text of a room and its history: reads here, writes through the writer. */
import type { AppendOutcome, MissingReason, TextAppend, TextStore } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { entryOf } from './edit-log.ts';
import type { RoomCache } from './room-cache.ts';
import type { RoomId } from './room-id.ts';
import type { RecordRow } from './rows.ts';
import type { AppendReply, AppendWrite, NewCheckpoint } from './text-operations.ts';
import type { TextReader } from './text-reader.ts';
import type { Writer } from './writer.ts';

export interface TextStoreParts {
  texts: TextReader;
  writer: Writer;
  cache: RoomCache;
  /** Reads an unexpired room in one transaction. */
  readLive<T>(code: RoomCode, now: number, read: (id: RoomId, record: RecordRow) => T): Promise<T | MissingReason>;
  missingReason(code: RoomCode, now: number): MissingReason;
}

export function createTextStore({ texts, writer, cache, readLive, missingReason }: TextStoreParts): TextStore {
  function outcomeOf(code: RoomCode, append: TextAppend, reply: AppendReply | 'gone'): AppendOutcome {
    if (reply === 'gone') {
      cache.drop(code);
      return { outcome: missingReason(code, append.entry.writtenAt) };
    }
    if (typeof reply === 'object' && 'repeated' in reply) return { outcome: 'repeated', request: reply.repeated };
    if (typeof reply === 'object' && !Array.isArray(reply))
      return { outcome: 'stale', ...reply, entries: reply.entries?.map(entryOf) };
    cacheContent(code, append);
    if (typeof reply === 'number') return { outcome: 'appended', seq: reply };
    const [seq, logBytes] = reply;
    return { outcome: 'appended', seq, logBytes };
  }

  function cacheContent(code: RoomCode, { content, entry: { version, writtenAt } }: TextAppend): void {
    if (content === undefined) cache.dropContent(code);
    else cache.putContent(code, { content, version, writtenAt });
  }

  function orReason<T extends string>(code: RoomCode, now: number, outcome: T | 'gone'): T | MissingReason {
    if (outcome !== 'gone') return outcome;
    cache.drop(code);
    return missingReason(code, now);
  }

  return {
    readText: (code, now) => readLive(code, now, texts.readText),

    readEdits: (code, since, limit, now) =>
      readLive(code, now, (id, record) => texts.readEdits(id, record, since, limit)),

    /** Several appends of a room may run concurrently. They are acknowledged and cached in order. */
    async appendText(code, append) {
      try {
        return outcomeOf(code, append, await writer.run('appendText', code, ...toWrite(append)));
      } catch (error) {
        // It may have been written.
        cache.drop(code);
        throw error;
      }
    },

    listHistory: (code, now) => readLive(code, now, texts.listHistory),

    readCheckpoint: (code, version, now) =>
      readLive(code, now, (id) => texts.readCheckpoint(id, version) ?? 'no-checkpoint'),

    async compactText(code, compaction, now) {
      return orReason(code, now, await writer.run('compactText', code, compaction, now));
    },

    async clearHistory(code, current, now) {
      return orReason(code, now, await writer.run('clearHistory', code, current, now));
    },
  };
}

function toWrite({ entry, revision, previousRevision, compaction, checkpoint, record }: TextAppend): AppendWrite {
  const { version, writtenAt, deviceId, ref } = entry;
  const isKept = !compaction || compaction.dropThrough < version;
  const edits = isKept ? JSON.stringify(entry.edits) : undefined;
  const drop =
    compaction && !compaction.isLogEmpty ? { through: compaction.dropThrough, keep: compaction.keep } : undefined;
  const write: AppendWrite = [
    ...([edits, compaction?.content, checkpoint && checkpointToWrite(checkpoint), entry.sealed] as const),
    ...([version, writtenAt, revision, previousRevision, drop, deviceId, ref, compaction?.lastRefs] as const),
  ];
  if (record) write.push(record);
  return write;
}

/** Without the text if the writer can copy it. */
function checkpointToWrite({ checkpoint, limits, isFullText }: NonNullable<TextAppend['checkpoint']>): NewCheckpoint {
  return { checkpoint: isFullText ? { ...checkpoint, content: undefined } : checkpoint, limits };
}
