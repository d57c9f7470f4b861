/** The memory of a server process after a garbage collection, read through its inspector without changing it. */
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { ServerProcess } from '../support/process.ts';
import { residentMemory } from '../support/process-stats.ts';

/** For a process whose memory is to be looked at. */
export const withInspector = {
  NODE_OPTIONS: '--inspect=127.0.0.1:0',
  // Otherwise the C library keeps what is freed, in one of many places for each thread: 10 MiB more or less, by chance.
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/** In MiB. */
export interface Memory {
  /** Objects and buffers that are in use. */
  heap: number;
  /** All that the process has of the machine's. */
  whole: number;
}

/** Each look waits until the memory is at rest. */
export async function openMemory(t: TestContext, server: ServerProcess): Promise<() => Promise<Memory>> {
  const ask = await openInspector(t, server);
  return () =>
    settled(async () => {
      // What the first collection finalizes, the second one frees.
      for (let n = 0; n < 2; n++) await ask('HeapProfiler.collectGarbage');
      const { usedSize = 0, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await ask('Runtime.getHeapUsage');
      const heap = (usedSize + embedderHeapUsedSize + backingStorageSize) / 1024 / 1024;
      return { heap, whole: await residentMemory(server.pid) };
    });
}

const looksInARow = 4;
/** MiB. */
const slightly = 0.1;
/** On a busy machine, a look may take a second. */
const patienceMs = 60_000;

/** The least that is seen, once nothing less is: what was just answered lets go of its buffers a moment later. */
async function settled(look: () => Promise<Memory>): Promise<Memory> {
  let least = await look();
  let unchanged = 0;
  const lookAgain = async () => {
    const { heap, whole } = await look();
    const hasFallen = least.heap - heap > slightly || least.whole - whole > slightly;
    unchanged = hasFallen ? 0 : unchanged + 1;
    least = { heap: Math.min(heap, least.heap), whole: Math.min(whole, least.whole) };
    return unchanged === looksInARow && least;
  };
  return eventually('the memory has settled', lookAgain, patienceMs);
}

type Ask = (method: string) => Promise<Record<string, number>>;

async function openInspector(t: TestContext, server: ServerProcess): Promise<Ask> {
  const address = await eventually('the inspector listens', () => /ws:\/\/\S+/.exec(server.errors())?.[0]);
  const inspector = new WebSocket(address);
  t.after(() => inspector.close());
  await once(inspector, 'open');
  let lastId = 0;
  return async (method) => {
    const id = ++lastId;
    inspector.send(JSON.stringify({ id, method }));
    for (;;) {
      const [{ data }] = (await once(inspector, 'message')) as [{ data: string }];
      const message = JSON.parse(data);
      if (message.id === id) return message.result;
    }
  };
}
