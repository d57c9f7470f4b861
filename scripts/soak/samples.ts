/** What the server holds at a moment: memory, open files, its folder. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openHandles, residentMemory } from '../../test/support/process-stats.ts';

export interface Sample {
  /** Seconds since this process began. */
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
  const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const figure = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(figures)?.[1]);
  return {
    at: performance.now() / 1000,
    rss: await residentMemory(pid),
    heap: figure('nodejs_heap_size_used_bytes') / MiB,
    folder: (await bytesIn(folder)) / MiB,
    handles: (await openHandles(pid)).length,
    rooms: figure('poproom_rooms'),
    channels: figure('poproom_live_channels'),
  };
}

/** Files come and go while they are counted. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    if (!entry.isFile()) return 0;
    return (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
