/** Samples the memory, the open files and the data folder of a server, and reports whether they grow. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openHandles, residentMemory } from '../test/support/process-stats.ts';
import { table } from './markdown.ts';

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

interface Bound {
  metric: 'rss' | 'handles';
  name: string;
  /** The allowed growth from the maximum of the third quarter to that of the last, as a fraction. */
  growth: number;
  /** Growth up to this amount is always allowed. */
  tolerance: number;
  /** The allowed ratio of maximum to minimum in the second half. */
  spread: number;
}

/**
 * Between two garbage collections, which are minutes apart, memory varies by a quarter. A linear trend would depend on
 * where in this cycle the samples start and end, so compare the maxima of quarters.
 */
const bounds: Bound[] = [
  { metric: 'rss', name: 'memory (MiB)', growth: 0.08, tolerance: 8, spread: 1.5 },
  { metric: 'handles', name: 'open files', growth: 0.1, tolerance: 20, spread: 1.8 },
];

/** One sentence for each metric that grows in the second half. */
export function findGrowth(samples: readonly Sample[]): string[] {
  return bounds.flatMap(({ metric, name, growth, tolerance, spread }) => {
    const values = samples.slice(samples.length >> 1).map((sample) => sample[metric]);
    const [before, after] = [values.slice(0, values.length >> 1), values.slice(values.length >> 1)];
    const problems: string[] = [];
    const [was, is] = [Math.max(...before), Math.max(...after)];
    const maxGrowth = Math.max(growth * was, tolerance);
    if (is - was > maxGrowth)
      problems.push(`${name} grew from ${was.toFixed(0)} to ${is.toFixed(0)} (maximum of a quarter).`);
    const ratio = Math.max(...values) / Math.min(...values);
    if (ratio > spread)
      problems.push(`${name}: the maximum is ${ratio.toFixed(2)} times the minimum; the limit is ${spread}.`);
    return problems;
  });
}

/** The range of each metric per quarter. */
export function quarterTable(samples: readonly Sample[]): string {
  const quarters = [0, 1, 2, 3].map((quarter) =>
    samples.slice((samples.length * quarter) / 4, (samples.length * (quarter + 1)) / 4),
  );
  const row = ({ metric, name }: Bound) => [
    `${name}, lowest to highest`,
    ...quarters.map((quarter) => {
      const values = quarter.map((sample) => sample[metric]);
      return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
    }),
  ];
  return table(['', 'first quarter', 'second', 'third', 'last'], bounds.map(row));
}

const maxRows = 16;

const head = ['minute', 'RSS (MiB)', 'heap (MiB)', 'open files', 'data folder (MiB)', 'rooms', 'live channels'];

export function sampleTable(samples: readonly Sample[]): string {
  const every = Math.ceil(samples.length / maxRows);
  const shown = samples.filter((_, i) => i % every === 0 || i === samples.length - 1);
  const start = samples[0]?.at ?? 0;
  const rows = shown.map(({ at, rss, heap, handles, folder, rooms, channels }) => [
    ((at - start) / 60).toFixed(1),
    ...[rss, heap, handles, folder, rooms, channels].map((value) => value.toFixed(0)),
  ]);
  return table(head, rows);
}
