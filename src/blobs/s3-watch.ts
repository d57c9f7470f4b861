/**
 * Distinguishes a slow store from a silent one during an upload. Bytes that the system has accepted may not have
 * reached the store, so if nothing moves for a while, another request checks that the store responds. As long as it
 * does, the upload may continue.
 */

export interface Sending {
  /** The number of bytes sent so far. */
  moved: () => number;
  /** Resolves to whether the store responds at all. */
  isAlive: () => Promise<boolean>;
  /** How long nothing may move before the store is checked, and how long it then has to respond. */
  quietMs: number;
  giveUp: (why: Error) => void;
}

/**
 * Counts polls instead of time, so that a stall of this process does not look like a silent store: between two polls,
 * pending I/O is processed.
 */
const pollsPerQuiet = 8;

/** Returns a function that stops watching. */
export function watchSending({ moved, isAlive, quietMs, giveUp }: Sending): () => void {
  let seen = 0;
  /** Consecutive polls without progress. */
  let quiet = 0;

  async function ask(): Promise<void> {
    if (await isAlive()) quiet = 0;
    else failAsSilent();
  }

  const failAsSilent = () => giveUp(new Error('The file store stopped accepting data and does not respond.'));

  const timer = setInterval(() => {
    quiet = moved() === seen ? quiet + 1 : 0;
    seen = moved();
    if (quiet === pollsPerQuiet) void ask();
    if (quiet === 2 * pollsPerQuiet) failAsSilent();
  }, quietMs / pollsPerQuiet);
  return () => clearInterval(timer);
}
