/**
 * Copies keys, rooms and files from one engine to another, and then checks that everything is there. It never
 * overwrites data at the target, so an interrupted run can be repeated.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Bucket, Config } from '../config.ts';
import { forEachConcurrent } from '../core/concurrency.ts';
import { PoproomError } from '../core/errors.ts';
import { reportLimits } from '../core/limits.ts';
import type { Clock } from '../core/ports/basics.ts';
import { type BlobStore, blobOf, isUnfinishedName, type StoredFile } from '../core/ports/files.ts';
import type { KeyRecord, RoomRecord, Store } from '../core/ports/store.ts';
import type { RoomCode } from '../core/room-code.ts';
import { type EnginePlace, type FilesPlace, openBlobs, openStore, rulesOf, type StorePlace } from '../engine/open.ts';
import { hostsOf } from '../redis/redis-url.ts';
import { FolderInUse } from '../store/sqlite/database.ts';

export type MigrationEnd = Awaited<ReturnType<typeof openEnd>>;

/** Opens the source or target: a store and its files. */
export async function openEnd({ store: place, files }: EnginePlace, config: Config) {
  const store = await openRooms(place, config);
  try {
    const { blobs, removeSpool } = await openFiles(files, config);
    const close = async () => {
      await store.close();
      await removeSpool();
    };
    return { ...store, blobs, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openRooms(place: StorePlace, config: Config): Promise<Store> {
  const { store, checkFormat } = await openStore(place, { rules: rulesOf(config), now: Date.now() }).catch((error) => {
    throw unavailable(problemOf(place, error), error);
  });
  await checkFormat();
  return store;
}

function problemOf(place: StorePlace, error: unknown): string {
  if ('redis' in place) return `Redis at ${hostsOf(place.redis)} does not respond or rejects the credentials.`;
  if (error instanceof FolderInUse) return `${error.message} Stop it first.`;
  if ((error as Error).message !== 'file is not a database') throw error;
  return `${join(place.folder, 'poproom.db')} is not a database.`;
}

const unavailable = (sentence: string, cause: unknown) => new PoproomError('UNAVAILABLE', sentence, { cause });

async function openFiles(place: FilesPlace, config: Config) {
  const { s3Endpoint: endpoint, s3PathStyle: pathStyle, minFreeDisk: minFree } = config;
  if ('folder' in place) {
    const blobs = await openBlobs(place, { endpoint, pathStyle, spool: place.folder, minFree });
    return { blobs, removeSpool: async () => undefined };
  }
  const spool = mkdtempSync(join(tmpdir(), 'poproom-migrate-'));
  const removeSpool = () => rm(spool, { recursive: true, force: true });
  try {
    const blobs = await openBlobs(place, { endpoint, pathStyle, spool, minFree: 0 });
    await blobs.ping().catch((error) => {
      throw unavailable(unreachable(place.bucket), error);
    });
    return { blobs, removeSpool };
  } catch (error) {
    await removeSpool();
    throw error;
  }
}

const unreachable = ({ bucket }: Bucket) =>
  `The bucket ${bucket} does not respond. Check POPROOM_S3_ENDPOINT and the AWS credentials.`;

interface Migration {
  from: MigrationEnd;
  to: MigrationEnd;
  clock: Clock;
  /** Aborts between two steps or within a file. */
  signal: AbortSignal;
  progress: (progress: Progress) => void;
}

export interface Progress {
  phase: 'moving' | 'checking';
  rooms: number;
  totalRooms: number;
  bytes: number;
}

export interface MigrationReport {
  moved: { keys: number; rooms: number; files: number; bytes: number };
  checked: { keys: number; rooms: number; files: number };
  differences: Differences;
}

interface Differences {
  count: number;
  /** Descriptions of the first ones. */
  first: string[];
}

/** Also the maximum number of concurrent files, and of texts in memory. */
const concurrentRooms = 16;

export async function migrate(migration: Migration): Promise<MigrationReport> {
  await removeUnfinished(migration);
  await moveFingerprint(migration);
  const keys = await moveKeys(migration);
  const moved = await moveRooms(migration);
  await moveReports(migration);
  return { moved: { keys, ...moved }, ...(await checkMigration(migration)) };
}

/** A killed run may have left incomplete files under names that this run will use. */
async function removeUnfinished({ to, clock }: Migration): Promise<void> {
  for await (const names of to.blobs.orphanBlobs(clock())) {
    const known = await to.trash.knownBlobs(names);
    const left = names.filter((name) => isUnfinishedName(name) && !known.has(name));
    // The blob itself may be complete.
    for (const name of left) await to.blobs.removeLeftovers(blobOf(name));
    return;
  }
}

/** So that a server at the target does not start with another secret than that of the rooms. */
async function moveFingerprint({ from, to }: Migration): Promise<void> {
  const fingerprint = await from.secretRecord.find();
  if (fingerprint !== undefined) await to.secretRecord.keep(fingerprint);
}

async function moveKeys({ from, to }: Migration): Promise<number> {
  let moved = 0;
  for (const key of await from.archive.keys()) if ((await to.archive.restoreKey(key)) === 'restored') moved += 1;
  return moved;
}

/** Those of the target stay, so this can exceed a limit, which then ends new ones until some are dismissed. */
async function moveReports({ from, to, clock }: Migration): Promise<void> {
  const none = Number.MAX_SAFE_INTEGER;
  const limits = { ...reportLimits, perRoom: none, perClient: none, inTotal: none };
  for (const report of await from.reports.list(clock() - reportLimits.keptMs)) await to.reports.put(report, limits);
}

type Moved = Omit<MigrationReport['moved'], 'keys'>;

async function moveRooms(migration: Migration): Promise<Moved> {
  const moved: Moved = { rooms: 0, files: 0, bytes: 0 };
  await forEachRoom(migration, 'moving', async (code) => {
    await moveRoom(migration, code, moved);
    return moved.bytes;
  });
  return moved;
}

/** Of the source. `work` returns the bytes so far. */
async function forEachRoom(
  { from, clock, signal, progress }: Migration,
  phase: Progress['phase'],
  work: (code: RoomCode) => Promise<number>,
): Promise<void> {
  const totalRooms = await from.rooms.countRooms(clock());
  let rooms = 0;
  await forEachConcurrent(from.archive.codes(clock()), concurrentRooms, async (code) => {
    signal.throwIfAborted();
    const bytes = await work(code);
    rooms += 1;
    progress({ phase, rooms, totalRooms, bytes });
  });
}

async function moveRoom(migration: Migration, code: RoomCode, moved: Moved): Promise<void> {
  const { from, to, clock } = migration;
  const record = await from.archive.readRoom(code, clock());
  // It has expired since it was listed.
  if (!record) return;
  const there = await to.archive.readRoom(code, clock());
  if (there && differenceOf(record, there)) return;
  // Files first, so that a room at the target is always complete.
  for (const file of record.files) {
    if (!(await moveFile(migration, file))) continue;
    moved.files += 1;
    moved.bytes += file.size;
  }
  if (!there && (await to.archive.restoreRoom(record, clock())) === 'restored') moved.rooms += 1;
}

/** Missing or incomplete bytes are skipped. The room is moved, and the check reports them. */
async function moveFile({ from, to, signal }: Migration, { blob, size }: StoredFile): Promise<boolean> {
  signal.throwIfAborted();
  if ((await to.blobs.size(blob)) === size) return false;
  if ((await from.blobs.size(blob)) !== size) return false;
  await to.blobs.checkSpace(size);
  const bytes = await from.blobs.open(blob, undefined);
  if (!bytes) return false;
  try {
    await to.blobs.put(blob, bytes, size, signal);
  } finally {
    bytes.destroy();
  }
  return true;
}

const maxReportedDifferences = 20;

/** Checks that all keys, rooms and files of one engine are in another, byte for byte. */
async function checkMigration(migration: Migration): Promise<Omit<MigrationReport, 'moved'>> {
  const differences: Differences = { count: 0, first: [] };
  const report = (sentence: string) => {
    differences.count += 1;
    if (differences.count <= maxReportedDifferences) differences.first.push(sentence);
  };
  const checked = { keys: await checkKeys(migration, report), rooms: 0, files: 0 };
  let bytes = 0;
  await forEachRoom(migration, 'checking', async (code) => {
    const files = await checkRoom(migration, code, report);
    checked.rooms += 1;
    checked.files += files.length;
    bytes += files.reduce((sum, { size }) => sum + size, 0);
    return bytes;
  });
  return { checked, differences };
}

type Report = (sentence: string) => void;

async function checkKeys({ from, to }: Migration, report: Report): Promise<number> {
  const there = new Map((await to.archive.keys()).map((key) => [key.id, key]));
  const keys = await from.archive.keys();
  for (const key of keys) if (!isDeepStrictEqual(there.get(key.id), key)) report(differentKey(key, there.get(key.id)));
  return keys.length;
}

function differentKey({ id, name }: KeyRecord, there: KeyRecord | undefined): string {
  if (there) return `the key "${name}" (${id}) differs at the target, or one of the two is revoked`;
  return `the key "${name}" (${id}) is missing at the target; another key may have its name`;
}

/** Returns the files whose bytes were compared. */
async function checkRoom(migration: Migration, code: RoomCode, report: Report): Promise<StoredFile[]> {
  const { from, to, clock } = migration;
  const record = await from.archive.readRoom(code, clock());
  const there = await to.archive.readRoom(code, clock());
  // It may have expired between the two reads.
  if (!record || record.expiresAt <= clock()) return [];
  const difference = differenceOf(record, there);
  if (difference) {
    report(`room ${code}: ${difference}`);
    return [];
  }
  for (const file of record.files) {
    const fault = await faultOf(migration, file);
    if (fault) report(`room ${code}: the file "${file.name}" ${fault}`);
  }
  return record.files;
}

/** Ignores the trusted clients, which only affect lockouts. */
function differenceOf(record: RoomRecord, there: RoomRecord | undefined): string | undefined {
  if (!there) return 'is missing at the target';
  const isSame = (...parts: (keyof RoomRecord)[]) =>
    parts.every((part) => isDeepStrictEqual(record[part], there[part]));
  if (!isSame('createdAt', 'expiresAt', 'pinMac', 'salt')) return 'another room has this code at the target';
  if (record.content.content !== there.content.content) return 'its text differs';
  if (!isSame('files')) return 'its files differ';
  if (!isSame('history', 'keepsHistory')) return 'its history differs';
  if (!isSame('seq', 'content', 'fullTextVersion', 'entries', 'pinAttempts', 'owner', 'name'))
    return 'it was changed on one side';
  return undefined;
}

async function faultOf({ from, to, signal }: Migration, { blob, size }: StoredFile): Promise<string | undefined> {
  const [here, there] = await Promise.all([from, to].map(({ blobs }) => digestOf(blobs, blob, signal)));
  if (here?.size !== size) return 'is missing or damaged at the source';
  if (!there) return 'is missing at the target';
  return here.hash === there.hash ? undefined : 'differs at the target';
}

async function digestOf(blobs: BlobStore, blob: string, signal: AbortSignal) {
  const bytes = await blobs.open(blob, undefined);
  if (!bytes) return undefined;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { hash: hash.digest('hex'), size };
}
