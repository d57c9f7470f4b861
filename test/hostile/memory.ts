/** The memory of a server process after a garbage collection, read through its inspector without changing it. */
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Cleanup, ServerProcess } from '../support/process.ts';
import { residentMemory } from '../support/process-stats.ts';

/** Settings for a process whose memory is measured. */
export const withInspector = {
  NODE_OPTIONS: '--inspect=127.0.0.1:0',
  // Otherwise glibc keeps freed memory in several arenas, which varies the result by 10 MiB.
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/** In MiB. */
export interface Memory {
  /** Objects and buffers that are in use. */
  heap: number;
  /** The resident memory of the process. */
  resident: number;
}

/** Each measurement waits until the memory is stable. */
export async function openMemoryProbe(t: TestContext, server: ServerProcess): Promise<() => Promise<Memory>> {
  const call = await openInspector(t, server);
  return () =>
    untilStable(async () => {
      // The second collection frees objects that the first one finalized.
      for (let n = 0; n < 2; n++) await call('HeapProfiler.collectGarbage');
      const { usedSize = 0, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await call('Runtime.getHeapUsage');
      const heap = (usedSize + embedderHeapUsedSize + backingStorageSize) / 1024 / 1024;
      return { heap, resident: await residentMemory(server.pid) };
    });
}

const stableSamples = 4;
/** MiB. */
const toleranceMiB = 0.1;
/** On a busy machine, a sample may take a second. */
const timeoutMs = 60_000;

/** The minimum, when it no longer falls. The buffers of recent responses are freed with a delay. */
async function untilStable(sample: () => Promise<Memory>): Promise<Memory> {
  let min = await sample();
  let unchanged = 0;
  const isStable = async () => {
    const { heap, resident } = await sample();
    const hasFallen = min.heap - heap > toleranceMiB || min.resident - resident > toleranceMiB;
    unchanged = hasFallen ? 0 : unchanged + 1;
    min = { heap: Math.min(heap, min.heap), resident: Math.min(resident, min.resident) };
    return unchanged === stableSamples && min;
  };
  return eventually('the memory has settled', isStable, timeoutMs);
}

/** A function that collects the garbage of the server. */
export async function openGarbageCollector(t: Cleanup, server: ServerProcess): Promise<() => Promise<void>> {
  const call = await openInspector(t, server);
  return async () => void (await call('HeapProfiler.collectGarbage'));
}

type InspectorCall = (method: string) => Promise<Record<string, number>>;

async function openInspector(t: Cleanup, server: ServerProcess): Promise<InspectorCall> {
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
