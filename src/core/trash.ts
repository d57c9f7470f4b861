/** Removes bytes that no file references any more, each once, however many nodes and requests try. */
import type { CoreDeps } from './deps.ts';
import type { MissingReason, TrashStore } from './ports.ts';
import type { RoomCode } from './room-code.ts';

export interface Trash {
  /** Removes all current entries, and returns their number. */
  empty(): Promise<number>;
  /** For requests that delete something: waits only briefly, and never rejects. */
  emptySoon(): Promise<void>;
}

const batchSize = 500;

/** A request does not wait longer for a slow file store. */
const maxWaitMs = 1000;

type TrashParts = Pick<CoreDeps, 'trash' | 'trashClaims' | 'blobs' | 'clock'>;

const trashes = new WeakMap<TrashStore, Trash>();

/** The trash of a store, one per process. */
export function trashOf(parts: TrashParts): Trash {
  const trash = trashes.get(parts.trash) ?? createTrash(parts);
  trashes.set(parts.trash, trash);
  return trash;
}

/** Deletes a room with its files and notifies its members. Returns the reason if there is no such room. */
export async function endRoom(parts: EndingParts, code: RoomCode): Promise<MissingReason | undefined> {
  const deleted = await parts.rooms.deleteRoom(code, parts.clock());
  if (typeof deleted === 'string') return deleted;
  parts.bus.publish(code, { seq: deleted.seq });
  await trashOf(parts).emptySoon();
  return undefined;
}

export type EndingParts = Pick<CoreDeps, 'rooms' | 'bus'> & TrashParts;

function createTrash({ trash, trashClaims, blobs, clock }: TrashParts): Trash {
  let running: Promise<number> | undefined;
  let next: Promise<number> | undefined;

  function start(): Promise<number> {
    running = emptyInBatches().finally(() => {
      running = undefined;
    });
    return running;
  }

  /** A running pass may have listed the trash too early, so callers share the next one. */
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
    const [gone, left] = [own.filter((_, i) => isDone(tried[i])), own.filter((_, i) => !isDone(tried[i]))];
    if (gone.length > 0) await trash.clearTrash(gone);
    if (left.length > 0) await trashClaims?.release(left);
    return gone.length;
  }

  return {
    empty,
    /** If it fails, the next sweep tries again. */
    async emptySoon() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxWaitMs);
      await Promise.race([empty().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

const isDone = (tried: PromiseSettledResult<void> | undefined) => tried?.status === 'fulfilled';
