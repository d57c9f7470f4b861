/**
 * Returns free pages to the disk after many rooms have ended. It moves pages from the end of the file to free ones, in
 * short steps, because writes wait for each of them. The next checkpoint truncates the file.
 */
import type { DatabaseSync } from 'node:sqlite';

/** The database shrinks if it has more free pages than this, and more than a quarter of all pages is free. */
const fewestFree = 1024;
const freeShare = 0.25;
/** The next rooms use these. */
const keptFree = 256;
const pagesPerStep = 64;
const longestMs = 20;

export interface Shrinker {
  /** Not in a transaction. Returns whether there is more to do. */
  shrink(): boolean;
}

export function createShrinker(db: DatabaseSync): Shrinker {
  const [freePages, allPages] = [db.prepare('PRAGMA freelist_count'), db.prepare('PRAGMA page_count')];
  const free = () => Number(freePages.get()?.freelist_count);
  const all = () => Number(allPages.get()?.page_count);
  let isShrinking = false;

  function isDue(): boolean {
    const count = free();
    return isShrinking ? count > keptFree : count > fewestFree && count > freeShare * all();
  }

  return {
    shrink() {
      const before = all();
      const until = performance.now() + longestMs;
      // At least one step, even if the thread was preempted for the whole time.
      do {
        isShrinking = isDue();
        if (!isShrinking) return false;
        db.exec(`PRAGMA incremental_vacuum(${pagesPerStep})`);
      } while (performance.now() < until);
      // A database of an earlier version that had no space for its VACUUM cannot shrink.
      isShrinking = all() < before;
      return isShrinking;
    },
  };
}
