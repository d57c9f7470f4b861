/** Makes what is over disappear: expired rooms, their bytes, and what broken uploads left behind. */
import { watchClock } from './clock-trust.ts';
import type { CoreDeps } from './deps.ts';
import type { Clock } from './ports.ts';
import { trashOf } from './trash.ts';

const portion = 500;
const strayAgeMs = 3600_000;
/** Sweeps come so often that none leaves a room this long past its time: nobody swept, or the clock is ahead. */
const overdueMs = 2 * 60_000;

export interface SweepReport {
  rooms: number;
  blobs: number;
}

export async function sweepRooms(parts: CoreDeps): Promise<SweepReport> {
  const { rooms, bus, storage, clock } = parts;
  const now = clock();
  let ended = 0;
  for (;;) {
    const codes = await rooms.expireRooms(now, portion);
    for (const code of codes) bus.publish(code, { seq: Number.MAX_SAFE_INTEGER });
    ended += codes.length;
    if (codes.length < portion) break;
  }
  await storage.releaseAbandoned(now);
  return { rooms: ended, blobs: await trashOf(parts).empty() };
}

/** Bytes that no row names: a crash fell between an upload's last byte and its row. Young ones may be in the making. */
export async function removeStrays({ rooms, blobs, clock }: CoreDeps): Promise<number> {
  let removed = 0;
  for await (const candidates of blobs.orphanBlobs(clock() - strayAgeMs)) {
    const known = await rooms.knownBlobs(candidates);
    const strays = candidates.filter((blob) => !known.has(blob));
    for (const blob of await rooms.claimTrash(strays, clock())) {
      await blobs.remove(blob);
      removed += 1;
    }
  }
  return removed;
}

/** Whether there are rooms that should have been swept long ago. */
async function hasOverdueRooms({ rooms, clock }: CoreDeps): Promise<boolean> {
  return (await rooms.countRooms(0)) > (await rooms.countRooms(clock() - overdueMs));
}

export interface Sweeper {
  start(): void;
  /** When the last whole sweep ended, by the clock as it goes now; for the readiness check. */
  lastSweptAt(): number;
  stop(): Promise<void>;
}

export interface SweepWatch {
  everyMs: number;
  /** Goes on whatever the wall clock is set to. */
  monotonic: Clock;
  done: (result: SweepReport & { strays: number }) => void;
  failed: (error: unknown) => void;
  /** Until the clock has been steady for a while, nothing is deleted. */
  doubted: (why: ClockDoubt) => void;
}

export type ClockDoubt = { leaptSeconds: number } | { overdue: true };

/** Sweeps when started and then regularly, never two at a time; strays, which need a walk over all files, once an hour. */
export function createSweeper(parts: CoreDeps, { everyMs, monotonic, done, failed, doubted }: SweepWatch): Sweeper {
  const { clock } = parts;
  const trust = watchClock(clock, monotonic);
  let lastSweptAt = monotonic();
  let straysDueAt = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  let running = Promise.resolve();
  let idle = true;
  let timer: NodeJS.Timeout | undefined;

  /** At the first look there is nothing to compare with, but a clock that is ahead leaves rooms that look forgotten. */
  async function lookAtClock(): Promise<void> {
    const leapt = trust.look();
    if (leapt !== undefined) doubted({ leaptSeconds: Math.round(leapt / 1000) });
    if (isFirst && (await hasOverdueRooms(parts))) {
      trust.doubt();
      doubted({ overdue: true });
    }
    isFirst = false;
  }

  async function sweep(): Promise<void> {
    await lookAtClock();
    if (trust.isSteady()) await sweepAll();
    // What is in the trash was ended before, and not by this clock alone.
    else await trashOf(parts).empty();
    lastSweptAt = monotonic();
  }

  async function sweepAll(): Promise<void> {
    const swept = await sweepRooms(parts);
    let strays = 0;
    if (monotonic() >= straysDueAt) {
      strays = await removeStrays(parts);
      straysDueAt = monotonic() + strayAgeMs;
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
