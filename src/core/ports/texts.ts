/** The text of a room, its log and its history. */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { TextEdit } from '../../text/edits.ts';
import type { FinishedRequest, InRoom, MissingReason, Owner, RequestRecord } from './basics.ts';

export type Content = { content: string; version: number; writtenAt: number };

/** One change of the text in the log of a room. */
export interface TextEntry {
  /** The version that it created. Its edits apply to the previous version. */
  version: number;
  /** In an encrypted room always empty. */
  edits: readonly TextEdit[];
  /** In an encrypted room, the sealed edits; absent if the entry replaced the whole text. */
  sealed?: string;
  /** Undefined for a request without a device id. */
  deviceId: string | undefined;
  /** The client's id for the edit, which identifies it after a lost response. */
  ref: string | undefined;
  writtenAt: number;
}

/** A stored edit of a device, which can recognize it by its ref. */
export type StoredRef = Pick<TextEntry, 'version' | 'writtenAt'> & { deviceId: string; ref: string };

/**
 * The last stored edit of each writer of a room, oldest first: it tells a client whether an edit was stored, also if the
 * log no longer has it. The refs of one writer differ only after the last hyphen; several writers may share a device.
 */
export type LastRefs = readonly StoredRef[];

const maxWriters = 100;

/** Adds the refs of newer entries. */
export const withRefsOf = (refs: LastRefs, entries: readonly TextEntry[]): LastRefs => entries.reduce(withRefOf, refs);

function withRefOf(refs: LastRefs, { deviceId, ref, version, writtenAt }: TextEntry): LastRefs {
  if (deviceId === undefined || ref === undefined) return refs;
  const others = refs.filter((other) => other.deviceId !== deviceId || seriesOf(other.ref) !== seriesOf(ref));
  return [...others.slice(1 - maxWriters), { deviceId, ref, version, writtenAt }];
}

const seriesOf = (ref: string) => ref.slice(0, Math.max(0, ref.lastIndexOf('-')));

/** Stores return at least this many of the newest entries with a text, if the log has them. */
export const recentEntries = 500;

/** Which of the old entries a log keeps: those of a recent time, as long as the log has no more than `maxBytes`. */
export type LogRetention = { writtenSince: number; maxBytes: number };

type FullTextHints = { lastRefs?: LastRefs; isLogEmpty?: boolean; isUnchanged?: boolean };

/** The full text of one version and the log of later edits, which may start earlier for clients that reconnect. */
export interface StoredText {
  /** The current text: the full text with the later edits applied. In an encrypted room, the full text itself. */
  content: Content;
  /**
   * The newest entries of the log, oldest first: those since the full text, and at least `recentEntries`. If there is
   * one, the last entry created the current version.
   */
  entries: readonly TextEntry[];
  /** The size of the whole log. */
  logBytes: number;
  lastRefs: LastRefs;
  /** Identifies the current text; see {@link TextAppend}. */
  revision: number;
  fullTextVersion: number;
  /** The version of the newest checkpoint; 0 if there is none. */
  checkpointVersion: number;
  keepsHistory: boolean;
  isEncrypted?: true;
  quota?: TextQuota;
}

/** The quota that a text counts against, and its bytes. */
export interface TextQuota {
  owner: Owner;
  charged: number;
  /** Bytes of all checkpoints. */
  historyBytes: number;
}

/**
 * Appends an entry to the log if the text it was created for is still the current one. The version alone does not
 * identify a text: of two texts with the same version only one was stored, and an entry for the other must not follow.
 */
export interface TextAppend {
  entry: TextEntry;
  /** Random numbers that identify the text after the entry and the text before it; 0 for a new room. */
  revision: number;
  previousRevision: number;
  /** The whole text after the entry, if the caller has it. A driver may cache it. */
  content: string | undefined;
  /**
   * Stores the full text of the new version, and drops the entries through `dropThrough` from the log, possibly
   * including this one, except those that `keep` retains. With `isLogEmpty`, a driver need not search for older entries,
   * and with `isUnchanged`, the stored full text has the same content.
   */
  compaction: (Pick<TextCompaction, 'content' | 'dropThrough' | 'keep'> & FullTextHints) | undefined;
  /** Stores the text before the edit, within the limits. With `isFullText`, a driver can copy the stored full text. */
  checkpoint: { checkpoint: Checkpoint; limits: HistoryLimits; isFullText?: boolean } | undefined;
  /** Of a request with an idempotency key. */
  record?: RequestRecord;
}

export type AppendOutcome =
  /** With the size of the log after a compaction. */
  | { outcome: 'appended'; seq: number; logBytes?: number }
  /** An earlier request with the same key was appended. */
  | { outcome: 'repeated'; request: FinishedRequest }
  /** Another text is current. Contains the entries since the expected version, if the log has them. */
  | { outcome: 'stale'; version: number; revision: number; entries: readonly TextEntry[] | undefined }
  | { outcome: MissingReason };

export interface CurrentText {
  version: number;
  revision: number;
  content: string;
  /** In an encrypted room, the version of `content`. Later entries of the log are part of the text. */
  fullTextVersion?: number;
  lastRefs: LastRefs;
}

/** A full text of an encrypted room, for a version in its log. */
export interface TextCompaction {
  /** The version of `content`. */
  version: number;
  content: string;
  /** Entries through this version are dropped from the log, except those that `keep` retains. */
  dropThrough: number;
  keep?: LogRetention;
  lastRefs: LastRefs;
  current: Pick<CurrentText, 'version' | 'revision'>;
  /** The full text before. */
  checkpoint: TextAppend['checkpoint'];
}

/** An earlier text of a room that can be restored. */
export interface Checkpoint extends Content {
  /** The device that wrote this version. */
  deviceId: string | undefined;
  /** Bytes of UTF-8. */
  size: number;
}

export type CheckpointInfo = Omit<Checkpoint, 'content'>;

export interface HistoryLimits {
  checkpoints: number;
  /** The total of all checkpoints. The newest is kept whatever its size. */
  bytes: number;
}

export interface TextState {
  version: number;
  writtenAt: number;
  /** Undefined if the reader named a version and `entries` lead from it to this one. */
  content: string | undefined;
  /** In an encrypted room with `content`: its version. `entries` lead from it to this one. */
  contentVersion?: number;
  /** The entries since the version that the reader named; empty if `content` is set. */
  entries: readonly TextEntry[];
  /** With `content`. */
  lastRefs?: LastRefs;
}

/** A text that a reader has. The time distinguishes two texts with the same version, one of which was lost. */
export type KnownText = Pick<TextState, 'version' | 'writtenAt'>;

export interface TextStore {
  readText(code: RoomCode, now: number): InRoom<StoredText>;
  /** Up to `limit` entries of the log after a version, oldest first; `no-log` if it does not go back that far. */
  readEdits(code: RoomCode, since: number, limit: number, now: number): InRoom<readonly TextEntry[] | 'no-log'>;
  appendText(code: RoomCode, append: TextAppend): Promise<AppendOutcome>;
  /** Stores a full text of an encrypted room if `current` is still the current text. Keeps a newer full text. */
  compactText(code: RoomCode, compaction: TextCompaction, now: number): InRoom<'compacted' | 'stale'>;

  /** Newest first. */
  listHistory(code: RoomCode, now: number): InRoom<CheckpointInfo[]>;
  readCheckpoint(code: RoomCode, version: number, now: number): InRoom<Checkpoint | 'no-checkpoint'>;
  /** Erases the checkpoints and the log if `current` is still the current text. */
  clearHistory(code: RoomCode, current: CurrentText, now: number): InRoom<'cleared' | 'stale'>;
}
