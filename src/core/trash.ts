/** Bytes that no file names any more, and how they are removed: once, whoever asks, on however many nodes. */
import type { CoreDeps } from './deps.ts';
import type { MissingReason, RoomStore } from './ports.ts';
import type { RoomCode } from './room-code.ts';

export interface Trash {
  /** Removes all that is in it now; returns how many that were. */
  empty(): Promise<number>;
  /** For a request that has thrown something away: it does not wait for long, and does not fail where this fails. */
  emptySoon(): Promise<void>;
}

const portion = 500;

/** A file store that hangs must not make a request hang that is done with it. */
const patienceMs = 1000;

type TrashParts = Pick<CoreDeps, 'rooms' | 'blobs' | 'clock'>;

const trashes = new WeakMap<RoomStore, Trash>();

/** The trash of a store: one for all who have to do with it in this process. */
export function trashOf(parts: TrashParts): Trash {
  const trash = trashes.get(parts.rooms) ?? createTrash(parts);
  trashes.set(parts.rooms, trash);
  return trash;
}

/** Deletes a room with its files and tells its members; returns why there was none. */
export async function endRoom(parts: EndingParts, code: RoomCode): Promise<MissingReason | undefined> {
  const deleted = await parts.rooms.deleteRoom(code, parts.clock());
  if (typeof deleted === 'string') return deleted;
  parts.bus.publish(code, { seq: deleted.seq });
  await trashOf(parts).emptySoon();
  return undefined;
}

export type EndingParts = Pick<CoreDeps, 'rooms' | 'blobs' | 'bus' | 'clock'>;

function createTrash({ rooms, blobs, clock }: TrashParts): Trash {
  let running: Promise<number> | undefined;
  let next: Promise<number> | undefined;

  function start(): Promise<number> {
    running = emptyInPortions().finally(() => {
      running = undefined;
    });
    return running;
  }

  /** One that runs may have looked before this was thrown away: the next one, which is the same for all, will not. */
  function empty(): Promise<number> {
    if (next) return next;
    if (!running) return start();
    next = running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  }

  async function emptyInPortions(): Promise<number> {
    let removed = 0;
    for (;;) {
      const trash = await rooms.listTrash(portion);
      const gone = trash.length > 0 ? await removeOwn(trash) : 0;
      removed += gone;
      if (trash.length < portion || gone === 0) return removed;
    }
  }

  /** Removes the bytes first and forgets them after, so that a crash in between repeats the work and loses none of it. */
  async function removeOwn(trash: readonly string[]): Promise<number> {
    const own = await rooms.claimTrash(trash, clock());
    const tried = await Promise.allSettled(own.map((blob) => blobs.remove(blob)));
    // One that cannot be removed must not keep the others; it is tried again with the next sweep.
    const [gone, left] = [own.filter((_, i) => isDone(tried[i])), own.filter((_, i) => !isDone(tried[i]))];
    if (gone.length > 0) await rooms.clearTrash(gone);
    if (left.length > 0) await rooms.releaseTrash(left);
    return gone.length;
  }

  return {
    empty,
    /** Where it fails, the next sweep tries again. */
    async emptySoon() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, patienceMs);
      await Promise.race([empty().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

const isDone = (tried: PromiseSettledResult<void> | undefined) => tried?.status === 'fulfilled';
