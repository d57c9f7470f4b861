/** The end of rooms: writes move it, and a sweep removes expired rooms, their files, and the remains of failed uploads. */
import { createRepetition } from './concurrency.ts';
import type { CoreDeps } from './deps.ts';
import { reportLimits, restorableMs, unfinishedUploadMs } from './limits.ts';
import type { Clock, MissingReason, Room } from './ports/basics.ts';
import { blobOf, type TrashStore } from './ports/files.ts';
import type { RoomCode } from './room-code.ts';

const batchSize = 500;
const orphanAgeMs = 3600_000;
/** Sweeps are frequent, so a room overdue by this much means that no sweep ran or that the clock is ahead. */
const overdueMs = 2 * 60_000;

type SweepReport = { rooms: number; blobs: number };

/** `onBatch`: many rooms that end together take minutes, because requests of clients come first. */
export async function sweepRooms(deps: CoreDeps, onBatch: () => void = () => undefined): Promise<SweepReport> {
  const { rooms, files, uploads, bus, storage, clock } = deps;
  const now = clock();
  let ended = 0;
  for (;;) {
    const codes = await rooms.expireRooms(now, batchSize);
    for (const code of codes) bus.publish(code, { seq: Number.MAX_SAFE_INTEGER });
    ended += codes.length;
    onBatch();
    if (codes.length < batchSize) break;
  }
  while ((await files.eraseRemoved(now - restorableMs, batchSize)) === batchSize);
  while ((await uploads.expireUploads(now, batchSize)) === batchSize);
  await storage.releaseAbandoned(now);
  return { rooms: ended, blobs: await trashOf(deps).empty() };
}

/** Removes bytes without a row, left by a crash during an upload. Recent ones may belong to a running upload. */
export async function removeOrphanBlobs(deps: CoreDeps): Promise<number> {
  const { blobs, clock } = deps;
  let removed = 0;
  for await (const candidates of blobs.orphanBlobs(clock() - orphanAgeMs)) {
    removed += await removeUnknown(deps, candidates);
  }
  return removed;
}

async function removeUnknown({ trash, trashClaims, blobs, clock }: CoreDeps, candidates: string[]): Promise<number> {
  if (candidates.length === 0) return 0;
  const known = await trash.knownBlobs([...new Set([...candidates, ...candidates.map(blobOf)])]);
  const orphans = candidates.filter((name) => !known.has(name));
  const claimed = trashClaims ? await trashClaims.claim(orphans, clock()) : orphans;
  for (const name of claimed) {
    // A blob that is known without this name is finished. It must not be removed with what an upload left.
    await (known.has(blobOf(name)) ? blobs.removeLeftovers(blobOf(name)) : blobs.remove(name));
  }
  return claimed.length;
}

/** Whether there are rooms that should have been removed long ago. */
const hasOverdueRooms = async ({ rooms, clock }: CoreDeps): Promise<boolean> =>
  (await rooms.countRooms(0)) > (await rooms.countRooms(clock() - overdueMs));

export interface SweepWatch {
  everyMs: number;
  /** Unaffected by changes of the wall clock. */
  monotonic: Clock;
  done: (result: SweepReport & { strays: number }) => void;
  failed: (error: unknown) => void;
  /** Called when the clock is not trusted. Nothing is deleted until it has been steady for a while. */
  doubted: (why: ClockDoubt) => void;
}

type ClockDoubt = { leaptSeconds: number } | { overdue: true };

/** Sweeps at the start and at intervals, one at a time. Orphaned bytes need a scan of all files, so once an hour. */
export function createSweeper(deps: CoreDeps, { everyMs, monotonic, done, failed, doubted }: SweepWatch) {
  const { clock } = deps;
  const trust = watchClock(clock, monotonic);
  let lastSweptAt = monotonic();
  let orphansDueAt = Number.NEGATIVE_INFINITY;
  let isFirst = true;

  /** The first check has nothing to compare with, but with a clock that is ahead, rooms look overdue. */
  async function checkClock(): Promise<void> {
    const leapt = trust.look();
    if (leapt !== undefined) doubted({ leaptSeconds: Math.round(leapt / 1000) });
    if (isFirst && (await hasOverdueRooms(deps))) {
      trust.doubt();
      doubted({ overdue: true });
    }
    isFirst = false;
  }

  async function sweep(): Promise<void> {
    // No clock is needed to know that they belong to no running upload.
    await removeUnknown(deps, deps.blobs.takeAbandoned());
    await checkClock();
    if (trust.isSteady()) await sweepAll();
    // The trash contains only what was deleted before, so removing it does not depend on the clock.
    else await trashOf(deps).empty();
    noteProgress();
  }

  const noteProgress = () => {
    lastSweptAt = monotonic();
  };

  async function sweepAll(): Promise<void> {
    const swept = await sweepRooms(deps, noteProgress);
    let strays = 0;
    if (monotonic() >= orphansDueAt) {
      strays = await removeOrphanBlobs(deps);
      await deps.reports.expire(clock() - reportLimits.keptMs);
      orphansDueAt = monotonic() + orphanAgeMs;
    }
    if (swept.rooms + swept.blobs + strays > 0) done({ ...swept, strays });
  }

  return {
    ...createRepetition(sweep, everyMs, failed),
    /** When the last complete sweep ended, or the running one made progress, by the wall clock; for the readiness check. */
    lastSweptAt: () => clock() - (monotonic() - lastSweptAt),
  };
}

/** A request does not wait longer for a slow file store. */
const maxWaitMs = 1000;

type TrashDeps = Pick<CoreDeps, 'trash' | 'trashClaims' | 'blobs' | 'clock'>;

const trashes = new WeakMap<TrashStore, ReturnType<typeof createTrash>>();

/** The trash of a store, one per process. */
export function trashOf(deps: TrashDeps) {
  const trash = trashes.get(deps.trash) ?? createTrash(deps);
  trashes.set(deps.trash, trash);
  return trash;
}

/** Deletes a room with its files and notifies its members. Returns the reason if there is no such room. */
export async function endRoom(
  deps: Pick<CoreDeps, 'rooms' | 'bus'> & TrashDeps,
  code: RoomCode,
): Promise<MissingReason | undefined> {
  const deleted = await deps.rooms.deleteRoom(code, deps.clock());
  if (typeof deleted === 'string') return deleted;
  deps.bus.publish(code, { seq: deleted.seq });
  await trashOf(deps).emptySoon();
  return undefined;
}

/** Removes bytes that no file references any more, each once, however many nodes and requests try. */
function createTrash({ trash, trashClaims, blobs, clock }: TrashDeps) {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<number> | undefined;

  /** Returns the number of removed blobs. A running pass may have listed the trash too early: callers share the next one. */
  function empty(): Promise<number> {
    next ??= running.then(() => {
      next = undefined;
      const pass = emptyInBatches();
      running = pass.catch(() => undefined);
      return pass;
    });
    return next;
  }

  async function emptyInBatches(): Promise<number> {
    let removed = 0;
    for (;;) {
      const listed = await trash.listTrash(batchSize);
      const gone = listed.length > 0 ? await removeOwn(listed) : 0;
      removed += gone;
      if (listed.length < batchSize || gone === 0) return removed;
    }
  }

  /** Removes the bytes before their entries, so that a crash in between only repeats the work. */
  async function removeOwn(listed: readonly string[]): Promise<number> {
    const own = trashClaims ? await trashClaims.claim(listed, clock()) : listed;
    const tried = await Promise.allSettled(own.map((blob) => blobs.remove(blob)));
    // A blob that cannot be removed must not block the others. The next sweep tries again.
    const { fulfilled: gone = [], rejected: left = [] } = Object.groupBy(own, (_, i) => tried[i]?.status ?? 'rejected');
    if (gone.length > 0) await trash.clearTrash(gone);
    if (left.length > 0) await trashClaims?.release(left);
    return gone.length;
  }

  return {
    empty,
    /** For requests that delete something: waits only briefly, and never rejects. A later sweep tries again. */
    async emptySoon(): Promise<void> {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxWaitMs);
      await Promise.race([empty().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

/** The expiry that a room gets by a change. */
export const expiryWithin = ({ longestAgeMs = Number.POSITIVE_INFINITY }: CoreDeps, { createdAt }: Room, end: number) =>
  Math.min(end, createdAt + longestAgeMs);

/** Waits for a write, and then for the expiry that it moves. */
export const extending = <T>(deps: CoreDeps, room: Room, write: Promise<T>): Promise<T> =>
  room.extendMs === undefined ? write : write.then((written) => extendAfterWrite(deps, room).then(() => written));

/** Never rejects: the write is stored. If this fails, the next write moves the expiry. */
export const extendAfterWrite = (deps: CoreDeps, room: Room): Promise<void> =>
  extendRoom(deps, room).catch(() => undefined);

/** Moving it takes several steps of the store, so it may be a minute, or a hundredth of the lifetime, earlier. */
async function extendRoom(deps: CoreDeps, room: Room): Promise<void> {
  const { rooms, bus, clock } = deps;
  const { code, expiresAt, extendMs } = room;
  if (extendMs === undefined) return;
  const now = clock();
  const later = expiryWithin(deps, room, now + extendMs);
  if (later - expiresAt < Math.min(60_000, extendMs / 100)) return;
  const update = { expiresAt: later, isExtension: true, admittedBy: undefined } as const;
  const updated = await rooms.updateRoom(code, { ...update, client: '', uploadLifetimeMs: unfinishedUploadMs }, now);
  if (typeof updated === 'object') bus.publish(code, { seq: updated.seq });
}

/**
 * Decides whether the wall clock can be trusted. Access to an expired room is rejected immediately, but only a steady
 * clock may delete it: a clock that jumps ten years ahead for a moment would delete every room.
 */

/** Adjustments by seconds are normal. After a jump of this size, the clock was wrong before or is wrong now. */
const leapMs = 5 * 60_000;
export const steadyAfterMs = 10 * 60_000;

/** The monotonic clock stops while a machine sleeps, so waking up is indistinguishable from a jump. */
function watchClock(clock: Clock, monotonic: Clock) {
  let last: { wall: number; steady: number } | undefined;
  let steadyAt = Number.NEGATIVE_INFINITY;

  /** Distrusts the clock until it has been steady long enough. */
  function doubt(): void {
    steadyAt = monotonic() + steadyAfterMs;
  }

  return {
    doubt,
    /** Compares both clocks since the last call, and returns the difference in ms if it is a jump. */
    look(): number | undefined {
      const seen = { wall: clock(), steady: monotonic() };
      const leapt = last ? seen.wall - last.wall - (seen.steady - last.steady) : 0;
      last = seen;
      if (Math.abs(leapt) < leapMs) return undefined;
      doubt();
      return leapt;
    },
    isSteady: () => monotonic() >= steadyAt,
  };
}
