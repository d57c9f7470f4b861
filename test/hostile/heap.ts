/** How much a server process still holds after its garbage was collected: its inspector tells, and nothing in it is changed. */
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { ServerProcess } from '../support/process.ts';

/** For a process whose heap is to be looked at. */
export const withInspector = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

export type Heap = () => Promise<number>;

/** In MiB, buffers included. */
export async function openHeap(t: TestContext, server: ServerProcess): Promise<Heap> {
  const address = await eventually('the inspector listens', () => /ws:\/\/\S+/.exec(server.errors())?.[0]);
  const inspector = new WebSocket(address);
  t.after(() => inspector.close());
  await once(inspector, 'open');
  let lastId = 0;

  async function ask(method: string): Promise<Record<string, number>> {
    const id = ++lastId;
    inspector.send(JSON.stringify({ id, method }));
    for (;;) {
      const [{ data }] = (await once(inspector, 'message')) as [{ data: string }];
      const message = JSON.parse(data);
      if (message.id === id) return message.result;
    }
  }

  return async () => {
    // What the first collection finalizes, the second one frees.
    for (let n = 0; n < 2; n++) await ask('HeapProfiler.collectGarbage');
    const { usedSize = 0, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await ask('Runtime.getHeapUsage');
    return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1024 / 1024;
  };
}
