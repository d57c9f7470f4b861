/** Whether what was sampled is flat, and the samples as a table. */
import { table } from '../markdown.ts';
import type { Sample } from './samples.ts';

/** What the second half may grow by, as a share of its mean, and how far its highest may be from its lowest. */
interface Bound {
  figure: 'rss' | 'handles';
  name: string;
  growth: number;
  /** Whatever the mean is, this much is no growth. */
  atLeast: number;
  spread: number;
}

/** Between two collections of garbage memory rises and falls by half, over minutes: short runs cannot be judged. */
const bounds: Bound[] = [
  { figure: 'rss', name: 'memory (MiB)', growth: 0.08, atLeast: 8, spread: 1.8 },
  { figure: 'handles', name: 'open files', growth: 0.1, atLeast: 10, spread: 1.8 },
];

/** One sentence for each figure that is not flat in the second half. */
export function judge(samples: readonly Sample[]): string[] {
  const half = samples.slice(samples.length >> 1);
  return bounds.flatMap(({ figure, name, growth, atLeast, spread }) => {
    const values = half.map((sample) => sample[figure]);
    const grown = slope(values) * (values.length - 1);
    const flaws: string[] = [];
    const most = Math.max(growth * mean(values), atLeast);
    if (grown > most) flaws.push(`${name} grew by ${grown.toFixed(1)} in the second half; ${most.toFixed(1)} may be.`);
    const between = Math.max(...values) / Math.min(...values);
    if (between > spread) flaws.push(`${name}: the highest is ${between.toFixed(2)} times the lowest, over ${spread}.`);
    return flaws;
  });
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of the straight line that fits best, per sample. */
function slope(values: readonly number[]): number {
  const [middle, level] = [(values.length - 1) / 2, mean(values)];
  const spread = values.reduce((sum, _, i) => sum + (i - middle) ** 2, 0);
  return spread === 0 ? 0 : values.reduce((sum, value, i) => sum + (i - middle) * (value - level), 0) / spread;
}

const mostRows = 16;

const head = ['minute', 'RSS (MiB)', 'heap (MiB)', 'open files', 'data folder (MiB)', 'rooms', 'live channels'];

export function sampleTable(samples: readonly Sample[]): string {
  const every = Math.ceil(samples.length / mostRows);
  const shown = samples.filter((_, i) => i % every === 0 || i === samples.length - 1);
  const start = samples[0]?.at ?? 0;
  const rows = shown.map(({ at, rss, heap, handles, folder, rooms, channels }) => [
    ((at - start) / 60).toFixed(1),
    ...[rss, heap, handles, folder, rooms, channels].map((value) => value.toFixed(0)),
  ]);
  return table(head, rows);
}
