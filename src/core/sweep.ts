/** Makes what is over disappear: expired rooms, their bytes, and what broken uploads left behind. */
import type { Parts } from './parts.ts';
import type { BlobStore, RoomStore } from './ports.ts';

const portion = 500;
const strayAgeMs = 3600_000;

export interface SweepReport {
  rooms: number;
  blobs: number;
}

export async function sweepRooms({ rooms, blobs, bus, clock }: Parts): Promise<SweepReport> {
  const now = clock();
  let ended = 0;
  for (;;) {
    const codes = await rooms.expireRooms(now, portion);
    for (const code of codes) bus.publish(code, Number.MAX_SAFE_INTEGER);
    ended += codes.length;
    if (codes.length < portion) break;
  }
  return { rooms: ended, blobs: await clearAllTrash(rooms, blobs) };
}

/** A file store that hangs must not make a request hang that is done with it. */
const trashPatienceMs = 1000;

/** What was just removed goes now; where that fails the next sweep tries again, so the request need not fail for it. */
export async function emptyTrash(rooms: RoomStore, blobs: BlobStore): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, trashPatienceMs);
  await Promise.race([clearAllTrash(rooms, blobs).catch(() => undefined), late]);
  clearTimeout(timer);
}

/** Removes the bytes first and forgets them after, so that a crash in between repeats the work and loses none of it. */
async function clearAllTrash(rooms: RoomStore, blobs: BlobStore): Promise<number> {
  let removed = 0;
  for (;;) {
    const trash = await rooms.listTrash(portion);
    const gone = await removeEach(blobs, trash);
    if (gone.length > 0) await rooms.clearTrash(gone);
    removed += gone.length;
    if (gone.length < portion) return removed;
  }
}

/** One that cannot be removed must not keep the others; it is tried again with the next sweep. */
async function removeEach(blobs: BlobStore, trash: readonly string[]): Promise<string[]> {
  const tried = await Promise.allSettled(trash.map((blob) => blobs.remove(blob)));
  return trash.filter((_, i) => tried[i]?.status === 'fulfilled');
}

/** Bytes that no row names: a crash fell between an upload's last byte and its row. Young ones may be in the making. */
export async function removeStrays({ rooms, blobs, clock }: Parts): Promise<number> {
  let removed = 0;
  for await (const candidates of blobs.strays(clock() - strayAgeMs)) {
    const known = await rooms.knownBlobs(candidates);
    for (const blob of candidates) {
      if (known.has(blob)) continue;
      await blobs.remove(blob);
      removed += 1;
    }
  }
  return removed;
}

export interface Sweeper {
  start(): void;
  /** When the last whole sweep ended; for the readiness check. */
  lastSweptAt(): number;
  stop(): Promise<void>;
}

export interface SweepWatch {
  everyMs: number;
  done: (result: SweepReport & { strays: number }) => void;
  failed: (error: unknown) => void;
}

/** Sweeps when started and then regularly, never two at a time; strays, which need a walk over all files, once an hour. */
export function createSweeper(parts: Parts, { everyMs, done, failed }: SweepWatch): Sweeper {
  const { clock } = parts;
  let lastSweptAt = clock();
  let straysDueAt = 0;
  let running = Promise.resolve();
  let idle = true;
  let timer: NodeJS.Timeout | undefined;

  async function sweep(): Promise<void> {
    const now = clock();
    const swept = await sweepRooms(parts);
    let strays = 0;
    if (now >= straysDueAt) {
      strays = await removeStrays(parts);
      straysDueAt = now + strayAgeMs;
    }
    lastSweptAt = clock();
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
    lastSweptAt: () => lastSweptAt,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
