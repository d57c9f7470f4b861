/** Works through items as they come, so many at a time. The first failure ends it, when what is under way has ended. */
export async function forEachConcurrent<T>(
  items: AsyncIterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.asyncIterator]();
  const failures: unknown[] = [];

  async function workOn(): Promise<void> {
    while (failures.length === 0) {
      const next = await queue.next();
      if (next.done) return;
      await work(next.value);
    }
  }

  const note = (error: unknown) => void failures.push(error);
  await Promise.all(Array.from({ length: atOnce }, () => workOn().catch(note)));
  if (failures.length > 0) throw failures[0];
}

/** The results of work on many items, in their order; a store takes only so many commands at a time. */
export async function mapInBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += portion) {
    results.push(...(await Promise.all(items.slice(i, i + portion).map(work))));
  }
  return results;
}

const portion = 200;
