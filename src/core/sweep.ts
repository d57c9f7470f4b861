/** Removes expired rooms, their files, and the remains of failed uploads. */
import { watchClock } from './clock-trust.ts';
import type { CoreDeps } from './deps.ts';
import { restorableMs } from './limits.ts';
import { blobOf, type Clock } from './ports.ts';
import { trashOf } from './trash.ts';

const batchSize = 500;
const orphanAgeMs = 3600_000;
/** Sweeps are frequent, so a room overdue by this much means that no sweep ran or that the clock is ahead. */
const overdueMs = 2 * 60_000;

export interface SweepReport {
  rooms: number;
  blobs: number;
}

/** `onBatch`: many rooms that end together take minutes, because requests of clients come first. */
export async function sweepRooms(parts: CoreDeps, onBatch: () => void = () => undefined): Promise<SweepReport> {
  const { rooms, files, uploads, bus, storage, clock } = parts;
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
  return { rooms: ended, blobs: await trashOf(parts).empty() };
}

/** Removes bytes without a row, left by a crash during an upload. Recent ones may belong to a running upload. */
export async function removeOrphanBlobs(parts: CoreDeps): Promise<number> {
  const { blobs, clock } = parts;
  let removed = 0;
  for await (const candidates of blobs.orphanBlobs(clock() - orphanAgeMs)) {
    removed += await removeUnknown(parts, candidates);
  }
  return removed;
}

async function removeUnknown(
  { trash, trashClaims, blobs, clock }: CoreDeps,
  candidates: readonly string[],
): Promise<number> {
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
async function hasOverdueRooms({ rooms, clock }: CoreDeps): Promise<boolean> {
  return (await rooms.countRooms(0)) > (await rooms.countRooms(clock() - overdueMs));
}

export interface Sweeper {
  start(): void;
  /** When the last complete sweep ended, or the running one made progress, by the wall clock; for the readiness check. */
  lastSweptAt(): number;
  stop(): Promise<void>;
}

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
export function createSweeper(parts: CoreDeps, { everyMs, monotonic, done, failed, doubted }: SweepWatch): Sweeper {
  const { clock } = parts;
  const trust = watchClock(clock, monotonic);
  let lastSweptAt = monotonic();
  let orphansDueAt = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  let running = Promise.resolve();
  let idle = true;
  let timer: NodeJS.Timeout | undefined;

  /** The first check has nothing to compare with, but with a clock that is ahead, rooms look overdue. */
  async function checkClock(): Promise<void> {
    const leapt = trust.look();
    if (leapt !== undefined) doubted({ leaptSeconds: Math.round(leapt / 1000) });
    if (isFirst && (await hasOverdueRooms(parts))) {
      trust.doubt();
      doubted({ overdue: true });
    }
    isFirst = false;
  }

  async function sweep(): Promise<void> {
    // No clock is needed to know that they belong to no running upload.
    await removeUnknown(parts, parts.blobs.takeAbandoned());
    await checkClock();
    if (trust.isSteady()) await sweepAll();
    // The trash contains only what was deleted before, so removing it does not depend on the clock.
    else await trashOf(parts).empty();
    noteProgress();
  }

  function noteProgress(): void {
    lastSweptAt = monotonic();
  }

  async function sweepAll(): Promise<void> {
    const swept = await sweepRooms(parts, noteProgress);
    let strays = 0;
    if (monotonic() >= orphansDueAt) {
      strays = await removeOrphanBlobs(parts);
      orphansDueAt = monotonic() + orphanAgeMs;
    }
    if (swept.rooms + swept.blobs + strays > 0) done({ ...swept, strays });
  }

  const tick = () => {
    if (!idle) return;
    idle = false;
    running = sweep()
      .catch(failed)
      .finally(() => {
        idle = true;
      });
  };

  return {
    start() {
      tick();
      timer = setInterval(tick, everyMs);
    },
    lastSweptAt: () => clock() - (monotonic() - lastSweptAt),
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
