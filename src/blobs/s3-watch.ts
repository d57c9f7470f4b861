/**
 * Tells a store that is slow from one that is silent, while it is sent a file. What the system has taken from us may
 * be with the store, or may never get there; so when nothing has moved for a while, the store is asked for a sign of
 * life by another request. As long as it gives one, the file may take its time.
 */

export interface Sending {
  /** How much of the file has been taken from us so far. */
  moved: () => number;
  /** Resolves to whether the store answers at all. */
  isAlive: () => Promise<boolean>;
  /** How long nothing may move before it is asked, and how long it then has to answer. */
  quietMs: number;
  giveUp: (why: Error) => void;
}

/**
 * A file is looked after by looks and not by the clock: between two of them what has come in is read, however long this
 * process was busy with something else.
 */
const looksPerQuiet = 8;

/** Watches until it is told to stop, which is what it returns. */
export function watchSending({ moved, isAlive, quietMs, giveUp }: Sending): () => void {
  let seen = 0;
  /** How many looks in a row found nothing moved. */
  let quiet = 0;

  async function ask(): Promise<void> {
    if (await isAlive()) quiet = 0;
    else callSilent();
  }

  const callSilent = () => giveUp(new Error('The store took no more of a file, and gave no sign of life.'));

  const timer = setInterval(() => {
    quiet = moved() === seen ? quiet + 1 : 0;
    seen = moved();
    if (quiet === looksPerQuiet) void ask();
    if (quiet === 2 * looksPerQuiet) callSilent();
  }, quietMs / looksPerQuiet);
  return () => clearInterval(timer);
}
