/** Whether what was sampled is flat, and the samples as a table. */
import { table } from '../markdown.ts';
import type { Sample } from './samples.ts';

interface Bound {
  figure: 'rss' | 'handles';
  name: string;
  /** What the highest of the last quarter may be above that of the one before, as a share of it. */
  growth: number;
  /** Whatever that is, this much is no growth. */
  atLeast: number;
  /** How many times the lowest of the second half its highest may be. */
  spread: number;
}

/**
 * Between two collections of garbage, minutes apart, memory rises and falls by a quarter. So a line through all samples
 * says more of where in that they begin and end than of growth; the heights that it comes back to are what must not grow.
 */
const bounds: Bound[] = [
  { figure: 'rss', name: 'memory (MiB)', growth: 0.08, atLeast: 8, spread: 1.5 },
  { figure: 'handles', name: 'open files', growth: 0.1, atLeast: 20, spread: 1.8 },
];

/** One sentence for each figure that is not flat in the second half. */
export function judge(samples: readonly Sample[]): string[] {
  return bounds.flatMap(({ figure, name, growth, atLeast, spread }) => {
    const values = samples.slice(samples.length >> 1).map((sample) => sample[figure]);
    const [before, after] = [values.slice(0, values.length >> 1), values.slice(values.length >> 1)];
    const flaws: string[] = [];
    const [was, is] = [Math.max(...before), Math.max(...after)];
    const most = Math.max(growth * was, atLeast);
    if (is - was > most) flaws.push(`${name} grew from ${was.toFixed(0)} to ${is.toFixed(0)} at most.`);
    const between = Math.max(...values) / Math.min(...values);
    if (between > spread) flaws.push(`${name}: the highest is ${between.toFixed(2)} times the lowest, over ${spread}.`);
    return flaws;
  });
}

/** What it has been, quarter by quarter. */
export function quarterTable(samples: readonly Sample[]): string {
  const quarters = [0, 1, 2, 3].map((quarter) =>
    samples.slice((samples.length * quarter) / 4, (samples.length * (quarter + 1)) / 4),
  );
  const row = ({ figure, name }: Bound) => [
    `${name}, lowest to highest`,
    ...quarters.map((quarter) => {
      const values = quarter.map((sample) => sample[figure]);
      return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
    }),
  ];
  return table(['', 'first quarter', 'second', 'third', 'last'], bounds.map(row));
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
