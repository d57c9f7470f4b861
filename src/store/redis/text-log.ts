/** The text of a room, its log and its history. Edits are applied here, not in the scripts. */
import {
  type Checkpoint,
  type CheckpointInfo,
  type Content,
  type GuardRules,
  type LastRefs,
  type LogRetention,
  type MissingReason,
  recentEntries,
  type TextAppend,
  type TextEntry,
  type TextQuota,
  type TextStore,
  withRefsOf,
} from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import { replay } from '../../text/replay.ts';
import { createRunOnce, repeatedIn } from './idempotency.ts';
import type { Keys } from './keys.ts';
import * as scripts from './text-scripts.ts';

export function createTextLog(redis: Redis, keys: Keys, { rememberExpiredMs }: GuardRules): TextStore {
  const runOnce = createRunOnce(redis, keys);

  return {
    async readText(code, now) {
      const { room, edits, history } = keys.ofRoom(code);
      const reply = await redis.run(scripts.readText, [room, edits, history], [now, rememberExpiredMs, recentEntries]);
      if (typeof reply === 'string') return reply as MissingReason;
      const [text, checkpointVersion, keepsHistory, revision, charged, salt, logBytes] = reply as [
        TextAndLogReply,
        string,
        string | null,
        string,
        QuotaReply,
        string | null,
        number,
      ];
      const quota = quotaOf(charged);
      return {
        ...textAndLogOf(text),
        logBytes,
        revision: Number(revision),
        checkpointVersion: Number(checkpointVersion),
        keepsHistory: keepsHistoryOf(keepsHistory),
        ...(salt && { isEncrypted: true as const }),
        ...(quota && { quota }),
      };
    },

    async readEdits(code, since, limit, now) {
      const { room, edits } = keys.ofRoom(code);
      const reply = await redis.run(scripts.readEdits, [room, edits], [now, rememberExpiredMs, since, limit]);
      return typeof reply === 'string' ? (reply as MissingReason | 'no-log') : (reply as string[]).map(entryOf);
    },

    async appendText(code, append) {
      const { room, edits, history, historyTexts } = keys.ofRoom(code);
      const { record, entry } = append;
      const args = [entry.writtenAt, rememberExpiredMs, ...argumentsOf(append)];
      const request = { record, room: code, now: entry.writtenAt };
      const reply = await runOnce(scripts.appendTextOnce, [room, edits, history, historyTexts], args, request);
      const repeated = repeatedIn(reply);
      if (repeated) return { outcome: 'repeated', request: repeated };
      if (typeof reply === 'string') return { outcome: reply as MissingReason };
      if ((reply as unknown[])[0] === 'appended') return appendedOf(reply as AppendedReply);
      const [, version, revision, entries] = reply as ['stale', number, string, string[] | null];
      return { outcome: 'stale', version, revision: Number(revision), entries: entries?.map(entryOf) };
    },

    async listHistory(code, now) {
      const { room, history } = keys.ofRoom(code);
      const reply = await redis.run(scripts.listHistory, [room, history], [now, rememberExpiredMs]);
      return typeof reply === 'string' ? (reply as MissingReason) : (reply as string[]).map(checkpointInfoOf);
    },

    async readCheckpoint(code, version, now) {
      const { room, history, historyTexts } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, version];
      const reply = await redis.run(scripts.readCheckpoint, [room, history, historyTexts], args);
      if (typeof reply === 'string') return reply as MissingReason | 'no-checkpoint';
      const [info, content] = reply as [string, string];
      return { ...checkpointInfoOf(info), content };
    },

    async compactText(code, { version, content, dropThrough, keep, lastRefs, current, checkpoint }, now) {
      const { room, edits, history, historyTexts } = keys.ofRoom(code);
      const times = [now, rememberExpiredMs, current.version, current.revision];
      const text = [version, content, dropThrough, JSON.stringify(lastRefs), ...retentionArguments(keep)];
      const args = [...times, ...text, ...checkpointArguments(checkpoint)];
      const reply = await redis.run(scripts.compactText, [room, edits, history, historyTexts], args);
      return reply as 'compacted' | 'stale' | MissingReason;
    },

    async clearHistory(code, { version, revision, content, fullTextVersion = version, lastRefs }, now) {
      const { room, edits, history, historyTexts } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, version, revision, content, fullTextVersion, JSON.stringify(lastRefs)];
      const reply = await redis.run(scripts.clearHistory, [room, edits, history, historyTexts], args);
      return reply as 'cleared' | 'stale' | MissingReason;
    },
  };
}

/** The bytes of the log after a compaction. */
type AppendedReply = ['appended', seq: number, logBytes: number | null];

function appendedOf([outcome, seq, logBytes]: AppendedReply) {
  return logBytes === null ? { outcome, seq } : { outcome, seq, logBytes };
}

type QuotaReply = (string | null)[];

function quotaOf([charged, client, network, historyBytes]: QuotaReply): TextQuota | undefined {
  if (!charged || !client) return undefined;
  const owner = { client, network: network || undefined };
  return { owner, charged: Number(charged), historyBytes: Number(historyBytes ?? 0) };
}

/**
 * The full text, the current version, its time, the entries that lead from the full text to it, the version of the full
 * text and its last refs.
 */
export type FullTextReply = [
  content: string,
  version: string,
  writtenAt: string,
  entries: string[] | null,
  full: number,
  lastRefs: string | null,
];

export function contentOf([content, version, writtenAt, entries]: FullTextReply): Content {
  return toContent(content, (entries ?? []).map(entryOf), version, writtenAt);
}

export function lastRefsOf(json: string | null, later: readonly TextEntry[]): LastRefs {
  return withRefsOf(json ? (JSON.parse(json) as LastRefs) : [], later);
}

/** The same with entries from before the full text. */
export type TextAndLogReply = FullTextReply;

export function textAndLogOf([content, version, writtenAt, log, fullTextVersion, refs]: TextAndLogReply) {
  const entries = (log ?? []).map(entryOf);
  const later = entries.filter((entry) => entry.version > fullTextVersion);
  const lastRefs = lastRefsOf(refs, later);
  return { content: toContent(content, later, version, writtenAt), entries, fullTextVersion, lastRefs };
}

const toContent = (fullText: string, entries: TextEntry[], version: string, writtenAt: string): Content => ({
  content: replay(
    fullText,
    entries.map(({ edits }) => edits),
  ),
  version: Number(version),
  writtenAt: Number(writtenAt),
});

/** Rooms of versions without a history have no such field. */
export const keepsHistoryOf = (field: string | null): boolean => field !== '0';

export function entryJson({ version, edits, sealed, deviceId, ref, writtenAt }: TextEntry): string {
  return JSON.stringify({ version, edits, sealed, deviceId, ref, writtenAt });
}

export function entryOf(json: string): TextEntry {
  const { version, edits, sealed, deviceId, ref, writtenAt } = JSON.parse(json) as TextEntry;
  const entry = { version, edits, deviceId, ref, writtenAt };
  return sealed === undefined ? entry : { ...entry, sealed };
}

function checkpointInfoJson({ version, writtenAt, deviceId, size }: CheckpointInfo): string {
  return JSON.stringify({ version, writtenAt, deviceId, size });
}

export function checkpointInfoOf(json: string): CheckpointInfo {
  const { version, writtenAt, deviceId, size } = JSON.parse(json) as CheckpointInfo;
  return { version, writtenAt, deviceId, size };
}

/** The arguments of the script after the times. */
function argumentsOf({ entry, revision, previousRevision, compaction, checkpoint }: TextAppend): (string | number)[] {
  const compacted = compaction
    ? [compaction.dropThrough, compaction.content, JSON.stringify(compaction.lastRefs ?? [])]
    : ['', '', ''];
  return [
    entry.version,
    entryJson(entry),
    previousRevision,
    revision,
    ...compacted,
    ...retentionArguments(compaction?.keep),
    ...checkpointArguments(checkpoint),
  ];
}

const retentionArguments = (keep: LogRetention | undefined) => [keep?.writtenSince ?? '', keep?.maxBytes ?? ''];

function checkpointArguments(kept: TextAppend['checkpoint']): (string | number)[] {
  if (!kept) return [''];
  const { checkpoint, limits } = kept;
  return [...checkpointFields(checkpoint), limits.checkpoints, limits.bytes];
}

/** A checkpoint as script arguments: version, json, content. */
export const checkpointFields = (checkpoint: Checkpoint): (string | number)[] => [
  checkpoint.version,
  checkpointInfoJson(checkpoint),
  checkpoint.content,
];
