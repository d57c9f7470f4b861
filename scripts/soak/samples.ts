/** Samples the memory, the open files and the data folder of the server. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openHandles, residentMemory } from '../../test/support/process-stats.ts';

export interface Sample {
  /** Seconds since the start of this process. */
  at: number;
  /** MiB. */
  rss: number;
  heap: number;
  folder: number;
  handles: number;
  rooms: number;
  channels: number;
}

const MiB = 1024 * 1024;

export async function sampleOf({ pid, port, folder }: { pid: number; port: number; folder: string }): Promise<Sample> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1]);
  return {
    at: performance.now() / 1000,
    rss: await residentMemory(pid),
    heap: metric('nodejs_heap_size_used_bytes') / MiB,
    folder: (await bytesIn(folder)) / MiB,
    handles: (await openHandles(pid)).length,
    rooms: metric('poproom_rooms'),
    channels: metric('poproom_live_channels'),
  };
}

/** Ignores files that disappear during the count. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    if (!entry.isFile()) return 0;
    return (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
