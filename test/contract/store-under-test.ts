/** The interface of a driver under test, and the records that the tests use. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, type TestContext } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { MissingReason } from '../../src/core/ports/basics.ts';
import type { FileQuota, FileStore, StoredFile, UnfinishedFile } from '../../src/core/ports/files.ts';
import type {
  AccessAttempt,
  CodeLength,
  GuardRules,
  RoomDraft,
  RoomStore,
  RoomUpdate,
} from '../../src/core/ports/rooms.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type {
  AppendOutcome,
  Checkpoint,
  Content,
  CurrentText,
  HistoryLimits,
  StoredText,
  TextAppend,
  TextEntry,
  TextStore,
} from '../../src/core/ports/texts.ts';
import { drawSymbols, type RoomCode } from '../../src/core/room-code.ts';
import { applyEdits } from '../../src/text/edits.ts';

/** The ports of rooms and of everything in them. */
export type RoomStores = Pick<Store, 'rooms' | 'texts' | 'files' | 'uploads' | 'trash'>;

export interface StoreUnderTest {
  store: Store;
  /** Closes cleanly and opens the same data again. */
  reopen(now: number): Promise<Store>;
  dispose(): Promise<void>;
}

export type OpenStore = (options: { rules: GuardRules; now: number }) => Promise<StoreUnderTest>;

export const second = 1000;
export const hour = 3600 * second;
export const day = 24 * hour;

/** The start time of the tests. Only they advance the clock. */
export const start = Date.now();

/** No limit of one client over all rooms: for tests in which another guard must be the one that acts. */
export const manyMisses = guardRules(0);

/** The room ports, and others that suites share. */
const sharedPorts = [
  ...(['rooms', 'links', 'texts', 'files', 'uploads', 'trash'] as const),
  ...(['rates', 'keys', 'archive', 'storage', 'idempotency', 'webhooks'] as const),
];
type SharedStore = Pick<Store, (typeof sharedPorts)[number] | 'queueLength'>;

/** The stores that the tests of a suite share, by their rules. */
const sharedStores = new WeakMap<OpenStore, Map<string, Promise<StoreUnderTest>>>();

/** For all the tests of a suite, which run one after another. Call it in the suite. */
export function openForSuite(open: OpenStore): OpenStore {
  const shared = new Map<string, Promise<StoreUnderTest>>();
  const ofSuite: OpenStore = (options) => open(options);
  sharedStores.set(ofSuite, shared);
  after(async () => {
    for (const opening of shared.values()) await (await opening).dispose();
  });
  return ofSuite;
}

/** One store for the tests of a suite; each makes its own rooms and clients, so that they do not meet. */
export function sharedStore(open: OpenStore, rules: GuardRules = guardRules(20)): SharedStore {
  let under: StoreUnderTest;
  before(async () => {
    const shared = sharedStores.get(open);
    const opening = shared?.get(JSON.stringify(rules)) ?? open({ rules, now: start });
    shared?.set(JSON.stringify(rules), opening);
    under = await opening;
  });
  // Getters, because the store is opened when the suite starts.
  const ports = sharedPorts.map((port) => [port, { enumerable: true, get: () => under.store[port] }]);
  const shared = { queueLength: () => under.store.queueLength() };
  return Object.defineProperties(shared, Object.fromEntries(ports)) as SharedStore;
}

/** A store for one test that looks at all there is in it, or opens it again. */
export async function ownStore(t: TestContext, open: OpenStore, rules = guardRules(20)): Promise<StoreUnderTest> {
  const under = await open({ rules, now: start });
  t.after(() => under.dispose());
  return under;
}

const eightSymbols: readonly CodeLength[] = [{ length: 8, upTo: Number.MAX_SAFE_INTEGER }];

export function draft(over: Partial<RoomDraft> = {}): RoomDraft {
  return {
    draw: drawSymbols(),
    codeLengths: eightSymbols,
    createdAt: start,
    expiresAt: start + day,
    pinMac: undefined,
    name: undefined,
    creator: newClient(),
    owner: undefined,
    countsText: false,
    keepsHistory: true,
    ...over,
  };
}

export async function createRoom(rooms: RoomStore, over: Partial<RoomDraft> = {}): Promise<RoomCode> {
  const code = await rooms.createRoom(draft(over));
  assert.ok(typeof code === 'string', 'the drawn code should be free');
  return code;
}

/** A change of an unprotected room. */
export function roomUpdate(over: Partial<RoomUpdate> = {}): RoomUpdate {
  return { client: newClient(), admittedBy: undefined, uploadLifetimeMs: day, ...over };
}

export function accessAttempt(code: RoomCode | undefined, over: Partial<AccessAttempt> = {}): AccessAttempt {
  return { code, client: newClient(), pinMac: undefined, deviceId: undefined, now: start, ...over };
}

export function file(over: Partial<StoredFile> = {}): StoredFile {
  return {
    id: randomBytes(16).toString('hex'),
    blob: randomBytes(32).toString('hex'),
    name: 'photo.jpg',
    type: 'image/jpeg',
    size: 1000,
    uploadedAt: start,
    owner: undefined,
    folder: '',
    deviceId: undefined,
    once: false,
    ...over,
  };
}

/** An unfinished file without any bytes yet. */
export function unfinishedFile(over: Partial<UnfinishedFile> = {}): UnfinishedFile {
  return { ...file(), received: 0, state: '', expiresAt: start + day, ...over };
}

/** The number and the bytes of the files that count in a room. */
export async function countedFiles(rooms: RoomStore, code: RoomCode, now: number = start): Promise<FileQuota> {
  const admission = await rooms.admit(accessAttempt(code, { now }));
  assert.ok(admission.outcome === 'admitted');
  return { files: admission.room.fileCount, bytes: admission.room.fileBytes };
}

/** Erases everything that was removed, however recently. */
export const eraseAll = (files: FileStore): Promise<number> => files.eraseRemoved(Number.MAX_SAFE_INTEGER, 1000);

/** The text as someone at the door gets it; undefined where there is no room. */
export async function textOf(
  rooms: RoomStore,
  code: RoomCode,
  now: number = start,
  pinMac?: Uint8Array,
): Promise<Content | undefined> {
  const admission = await rooms.read(accessAttempt(code, { now, pinMac }));
  return admission.outcome === 'admitted' ? admission.content : undefined;
}

let clients = 0;

/** All of one network. */
export function newClient(): string {
  clients += 1;
  return `10.0.${clients >> 8}.${clients & 255}`;
}

/** A code that no room has. */
export function unknownCode(): RoomCode {
  return drawSymbols() as RoomCode;
}

/** Stands for a keyed hash: the store compares, and knows nothing of how it came about. */
export function mac(pin: string): Uint8Array {
  return createHash('sha256').update(pin).digest();
}

export const quota = { files: 100, bytes: 100 * 1024 * 1024 };

/** An entry of the log; without edits unless some are given. */
export function textEntry(version: number, over: Partial<TextEntry> = {}): TextEntry {
  return { version, edits: [], deviceId: undefined, ref: undefined, writtenAt: start, ...over };
}

/** An entry that inserts a text before all others. */
export function insertion(version: number, insert: string, over: Partial<TextEntry> = {}): TextEntry {
  return textEntry(version, { edits: [{ from: 0, to: 0, insert }], ...over });
}

/** The arguments for clearing the history. */
export const currentText = (content: string, version: number): CurrentText => ({
  content,
  version,
  revision: version,
  lastRefs: [],
});

/** In these tests the revision of a text is its version. */
export function textAppend(entry: TextEntry, over: Partial<TextAppend> = {}): TextAppend {
  const { version: revision } = entry;
  const nothingElse = { content: undefined, compaction: undefined, checkpoint: undefined };
  return { entry, revision, previousRevision: revision - 1, ...nothingElse, ...over };
}

/** Inserts a text before all others, without waiting for earlier appends. */
export function appendInsertion(
  texts: TextStore,
  code: RoomCode,
  version: number,
  insert: string,
): Promise<AppendOutcome> {
  return texts.appendText(code, textAppend(insertion(version, insert)));
}

/** Replaces the whole text, whatever its version is. */
export async function writeText(
  texts: TextStore,
  code: RoomCode,
  content: string,
  now: number = start,
): Promise<{ version: number; seq: number } | MissingReason> {
  for (;;) {
    const stored = await texts.readText(code, now);
    if (typeof stored === 'string') return stored;
    const entry = replacement(stored.content, content, now);
    const appended = await texts.appendText(code, textAppend(entry, { content }));
    if (appended.outcome === 'appended') return { version: entry.version, seq: appended.seq };
    assert.ok(appended.outcome !== 'repeated');
    if (appended.outcome !== 'stale') return appended.outcome;
  }
}

export function replacement(before: Content, insert: string, writtenAt: number = start): TextEntry {
  return textEntry(before.version + 1, { edits: [{ from: 0, to: before.content.length, insert }], writtenAt });
}

/** The text with its log. */
export async function storedText(texts: TextStore, code: RoomCode, now: number = start): Promise<StoredText> {
  const stored = await texts.readText(code, now);
  assert.ok(typeof stored === 'object', 'the room should exist');
  return stored;
}

/** Without the size of the log, which differs between stores. */
export async function comparableText(texts: TextStore, code: RoomCode, now: number = start) {
  const { logBytes, ...stored } = await storedText(texts, code, now);
  return stored;
}

export const applyEntries = (text: string, entries: readonly TextEntry[]): string =>
  entries.reduce((result, { edits }) => applyEdits(result, edits), text);

export function checkpoint(version: number, content: string, over: Partial<Checkpoint> = {}): Checkpoint {
  const size = Buffer.byteLength(content);
  return { version, content, size, writtenAt: start, deviceId: undefined, ...over };
}

export const manyCheckpoints: HistoryLimits = { checkpoints: 50, bytes: 4 * 1024 * 1024 };

/** Appends an entry without edits that keeps the text before it as a checkpoint. */
export async function keepCheckpoint(
  texts: TextStore,
  code: RoomCode,
  kept: Checkpoint,
  limits: HistoryLimits = manyCheckpoints,
): Promise<void> {
  const append = textAppend(textEntry(kept.version + 1), { checkpoint: { checkpoint: kept, limits } });
  assert.equal((await texts.appendText(code, append)).outcome, 'appended');
}
