/** The texts of rooms in memory, with the newest entries of their logs, which edits are rebased over. */
import { TextDocument } from '../../text/document.ts';
import { lengthAfter, type TextEdit } from '../../text/edits.ts';
import { singleFlights } from '../concurrency.ts';
import { orMissing } from '../errors.ts';
import type { Clock } from '../ports/basics.ts';
import type { RoomStore } from '../ports/rooms.ts';
import {
  type LastRefs,
  type StoredRef,
  type StoredText,
  type TextEntry,
  type TextQuota,
  type TextStore,
  withRefsOf,
} from '../ports/texts.ts';
import type { RoomCode } from '../room-code.ts';

/** The size of an entry without its inserted text. */
const entryBytes = 64;
const editBytes = 32;

type LogSize = { bytes: number; edits: number };

/** The state of one version, to return to. The document is immutable, so keeping it is cheap. */
export interface TextPoint {
  version: number;
  revision: number;
  writtenAt: number;
  document: TextDocument;
  bytes: number;
  lastRefs: LastRefs;
}

/**
 * It is ahead of the store: an entry is added when it is sent to the store, so that the next edit need not wait for
 * the disk. If the store rejects it, the text is rewound or dropped, and a new `generation` restarts later edits.
 */
export class WorkingText {
  generation = 0;
  /** The number of unconfirmed appends. */
  pending = 0;
  #lastAppend: Promise<unknown> = Promise.resolve();
  point: Readonly<TextPoint>;
  #entries: TextEntry[];
  #byRef = new Map<string, TextEntry>();
  fullTextVersion: number;
  /** The size of the stored log, which goes further back than the entries here. */
  #logBytes: number;
  /** The bytes of all entries here. */
  #bytes = 0;
  #sizeSinceFullText: LogSize = { bytes: 0, edits: 0 };
  checkpointVersion: number;
  /** When the text started to differ from its newest checkpoint; undefined if it does not. */
  changedSince: number | undefined;
  checkpointedAt = 0;
  /** Whether it may have been typed since its newest checkpoint. True if unknown: just loaded, or of another node. */
  isTyped = true;
  /** Whether the store has a log of this text. There may be entries in memory without one. */
  hasStoredLog: boolean;
  readonly keepsHistory: boolean;
  /** If so, the document is the full text, and entries are sealed. */
  readonly isEncrypted: boolean;
  /** Undefined if the text does not count. */
  readonly quota: TextQuota | undefined;
  /** The sizes of the newest checkpoints since the text was loaded. */
  readonly newCheckpoints: number[] = [];

  constructor(stored: StoredText) {
    const { content, version, writtenAt } = stored.content;
    const { revision, quota, lastRefs } = stored;
    this.point = { version, revision, writtenAt, ...wholeText(content), lastRefs };
    this.#logBytes = stored.logBytes;
    this.#entries = [...stored.entries];
    this.fullTextVersion = stored.fullTextVersion;
    this.checkpointVersion = stored.checkpointVersion;
    this.keepsHistory = stored.keepsHistory;
    this.isEncrypted = stored.isEncrypted ?? false;
    this.quota = quota && { ...quota };
    this.hasStoredLog = stored.entries.length > 0;
    for (const entry of this.#entries) this.#index(entry);
    this.changedSince = this.#findChangedSince();
  }

  get version(): number {
    return this.point.version;
  }

  get document(): TextDocument {
    return this.point.document;
  }

  get lastRefs(): LastRefs {
    return this.point.lastRefs;
  }

  get entries(): readonly TextEntry[] {
    return this.#entries;
  }

  /** The distance of the current text from the stored full text. */
  get distance(): LogSize & { entries: number } {
    return { entries: this.version - this.fullTextVersion, ...this.#sizeSinceFullText };
  }

  get logBytes(): number {
    return this.hasStoredLog ? this.#logBytes : 0;
  }

  /** The store has dropped entries with a version, and this is the size of what was left. */
  noteLogBytes(version: number, bytes: number): void {
    const later = version < this.version ? (this.since(version) ?? []) : [];
    this.#logBytes = later.reduce((sum, entry) => sum + sizeOf(entry), bytes);
  }

  /** The entries that lead from the full text to the current one. */
  sinceFullText(): readonly TextEntry[] {
    return this.since(this.fullTextVersion) ?? [];
  }

  /** The version that the oldest entry here is based on. */
  get firstBase(): number {
    return this.version - this.#entries.length;
  }

  /** Adds older entries of the stored log. */
  extendBack(older: readonly TextEntry[]): void {
    if (older.at(-1)?.version !== this.firstBase) return;
    this.#entries = [...older, ...this.#entries];
    for (const entry of older) this.#index(entry);
  }

  /** The entries after a version; undefined if they are not all here. */
  since(version: number): readonly TextEntry[] | undefined {
    const count = this.version - version;
    if (count < 0 || count > this.#entries.length) return undefined;
    return this.#entries.slice(this.#entries.length - count);
  }

  /** The stored edit of a device with this ref, as its entry if the log still has it. */
  findByRef({ deviceId, ref }: Partial<Pick<TextEntry, 'deviceId' | 'ref'>>): TextEntry | StoredRef | undefined {
    if (deviceId === undefined || ref === undefined) return undefined;
    const entry = this.#byRef.get(refKey(deviceId, ref));
    return entry ?? this.lastRefs.find((last) => last.ref === ref && last.deviceId === deviceId);
  }

  lengthAt(newer: readonly TextEntry[]): number {
    return newer.reduceRight((length, { edits }) => length - lengthAfter(0, edits), this.document.length);
  }

  /** The document is the one after the entry. */
  add(entry: TextEntry, after: Pick<TextPoint, 'document' | 'bytes' | 'revision'>): void {
    const lastRefs = entry.ref === undefined ? this.lastRefs : withRefsOf(this.lastRefs, [entry]);
    this.point = { version: entry.version, writtenAt: entry.writtenAt, ...after, lastRefs };
    this.#entries.push(entry);
    this.#index(entry);
    this.#logBytes += sizeOf(entry);
    if (entry.edits.length > 0 || this.isEncrypted) this.changedSince ??= entry.writtenAt;
  }

  /** The full text of this version is stored. Entries through a version are no longer needed here. */
  noteFullText(dropThrough: number): void {
    this.fullTextVersion = this.version;
    this.#sizeSinceFullText = { bytes: 0, edits: 0 };
    const dropped = this.#entries.length - (this.version - dropThrough);
    if (dropped > 0) for (const entry of this.#entries.splice(0, dropped)) this.#forget(entry);
  }

  /** Replaces the full text of an encrypted room, which no edits lead to. */
  setFullText(content: string, dropThrough: number): void {
    this.point = { ...this.point, ...wholeText(content) };
    this.noteFullText(dropThrough);
  }

  noteCheckpoint(now: number): void {
    this.checkpointVersion = this.version;
    this.changedSince = undefined;
    this.isTyped = false;
    this.checkpointedAt = now;
  }

  /** Returns to an earlier point, and applies the entries from there to a revision. */
  rewind(point: TextPoint, entries: readonly TextEntry[], revision: number): void {
    this.generation += 1;
    for (let last = this.#entries.at(-1); last && last.version > point.version; last = this.#entries.at(-1)) {
      this.#entries.pop();
      this.#forget(last);
      this.#logBytes -= sizeOf(last);
    }
    this.point = point;
    this.changedSince = this.#findChangedSince();
    this.isTyped = true;
    for (const entry of entries) {
      const bytes = this.point.bytes + bytesGained(this.point, entry);
      this.add(entry, { document: this.document.apply(entry.edits), bytes, revision });
    }
  }

  /** An append was sent to the store. */
  onAppend(answered: Promise<unknown>): void {
    this.pending += 1;
    this.#lastAppend = answered;
  }

  onResponse(): void {
    this.pending -= 1;
  }

  /** Waits until the store has responded to all appends. Returns the state then. */
  async settle(): Promise<Readonly<TextPoint>> {
    while (this.pending > 0) await this.#lastAppend.catch(() => undefined);
    return this.point;
  }

  get cost(): number {
    return 2 * this.document.length + 256 * this.#entries.length + 2 * this.#bytes;
  }

  #index(entry: TextEntry): void {
    const { version, edits, deviceId, ref } = entry;
    const bytes = sizeOf(entry);
    this.#bytes += bytes;
    if (version > this.fullTextVersion) {
      this.#sizeSinceFullText.bytes += bytes;
      this.#sizeSinceFullText.edits += edits.length;
    }
    if (deviceId !== undefined && ref !== undefined) this.#byRef.set(refKey(deviceId, ref), entry);
  }

  #findChangedSince(): number | undefined {
    if (this.version <= this.checkpointVersion) return undefined;
    // Falls back to the oldest entry in the log.
    const first = this.#entries.at(this.checkpointVersion - this.version) ?? this.#entries[0];
    return first?.writtenAt ?? this.point.writtenAt;
  }

  #forget(entry: TextEntry): void {
    const { deviceId, ref } = entry;
    this.#bytes -= sizeOf(entry);
    if (deviceId !== undefined && ref !== undefined) this.#byRef.delete(refKey(deviceId, ref));
  }
}

const wholeText = (content: string) => ({ document: TextDocument.of(content), bytes: Buffer.byteLength(content) });

type SizedEdits = { edits: readonly TextEdit[]; replacementBytes?: number };

/** The change of the text's size in bytes of UTF-8. */
export function bytesGained({ document, bytes }: TextPoint, { edits, replacementBytes }: SizedEdits): number {
  if (replacementBytes !== undefined) return replacementBytes - bytes;
  let gained = bytesInserted(edits);
  for (const { from, to } of edits) if (from < to) gained -= Buffer.byteLength(document.slice(from, to));
  return gained;
}

export const sizeOf = ({ edits, sealed = '' }: Pick<TextEntry, 'edits' | 'sealed'>): number =>
  entryBytes + editBytes * edits.length + bytesInserted(edits) + sealed.length;

export function bytesInserted(edits: readonly TextEdit[]): number {
  if (edits.length === 0) return 0;
  const known = longInsertions.get(edits);
  if (known !== undefined) return known;
  const inserted = edits.reduce((sum, { insert }) => sum + Buffer.byteLength(insert), 0);
  if (inserted > longInsertion) longInsertions.set(edits, inserted);
  return inserted;
}

/** The size of an entry is needed several times. Counting the bytes of 100 KB took 4 % of the time of a write. */
const longInsertions = new WeakMap<readonly TextEdit[], number>();
const longInsertion = 4096;

const refKey = (deviceId: string, ref: string) => `${deviceId} ${ref}`;

/** The total for all texts, in approximate bytes. */
const maxCost = 64 * 1024 * 1024;
/** A text is dropped after one to two of these without use. Reading it again takes about a millisecond. */
const idleMs = 10_000;

/** Texts that are being edited. The least recently used are dropped first, and all when idle. */
export class TextCache {
  /** Least recently used first. `wasUsed` is about the time since the last check for idle texts. */
  readonly #texts = new Map<RoomCode, { text: WorkingText; cost: number; wasUsed: boolean }>();
  readonly #idleMs: number;
  cost = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(idle: number = idleMs) {
    this.#idleMs = idle;
  }

  get(code: RoomCode): WorkingText | undefined {
    return this.#texts.get(code)?.text;
  }

  /** Marks the text as used and updates its cost. */
  put(code: RoomCode, text: WorkingText): void {
    const { cost } = text;
    this.delete(code);
    this.#texts.set(code, { text, cost, wasUsed: true });
    this.cost += cost;
    if (this.cost > maxCost) this.#evict(code);
    this.#watchIdle();
  }

  delete(code: RoomCode): void {
    this.cost -= this.#texts.get(code)?.cost ?? 0;
    this.#texts.delete(code);
  }

  #evict(newest: RoomCode): void {
    for (const [code, { text }] of this.#texts) {
      if (this.cost <= maxCost) return;
      if (code !== newest && text.pending === 0) this.delete(code);
    }
  }

  #watchIdle(): void {
    if (this.#timer || this.#texts.size === 0) return;
    this.#timer = setTimeout(() => this.#dropIdle(), this.#idleMs).unref();
  }

  #dropIdle(): void {
    for (const [code, cached] of [...this.#texts]) {
      // Edits that the store has not confirmed depend on the text.
      if (!cached.wasUsed && cached.text.pending === 0) this.delete(code);
      cached.wasUsed = false;
    }
    this.#timer = undefined;
    this.#watchIdle();
  }
}

/** The texts in memory: loads them from the store, and drops those that may differ from it. */
export function createLoadedTexts(rooms: RoomStore, texts: TextStore, clock: Clock) {
  const cache = new TextCache();
  const onceFor = singleFlights<RoomCode, WorkingText>();

  const load = (code: RoomCode) => cache.get(code) ?? reload(code);

  const reload = (code: RoomCode) => onceFor(code, () => read(code));

  async function read(code: RoomCode): Promise<WorkingText> {
    const text = new WorkingText(orMissing(await texts.readText(code, clock())));
    cache.put(code, text);
    return text;
  }

  function drop(code: RoomCode, text: WorkingText): void {
    text.generation += 1;
    if (cache.get(code) === text) cache.delete(code);
  }

  /** Whether the store has this text and nothing newer. If not, it will be read again. */
  async function isCurrent(code: RoomCode, text: WorkingText): Promise<boolean> {
    const { version, writtenAt } = await text.settle();
    const state = orMissing(await rooms.readState(code, clock(), { version, writtenAt }));
    if (state.text.version === version && text.version === version) return true;
    if (text.pending === 0) drop(code, text);
    return false;
  }

  return { cache, load, reload, drop, isCurrent };
}
