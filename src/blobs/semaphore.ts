/** Runs at most `maxConcurrent` tasks at a time. The others wait. */
export function createSemaphore(maxConcurrent: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = maxConcurrent;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
