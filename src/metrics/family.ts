/** Counters and histograms that cost little to update, and the text format of Prometheus. */
import type { MaybePromise } from '../core/ports/basics.ts';

export interface Definition {
  name: string;
  type: 'counter' | 'gauge' | 'histogram' | 'untyped';
  help: string;
  /** Every value must come from a fixed set: series are never removed. */
  labels: readonly string[];
  /** Upper bounds of a histogram, in ascending order. */
  buckets?: readonly number[];
}

/** One metric with all its series. Throws or rejects if it cannot be read. */
export type Source = { lines(): MaybePromise<string[]> };

/** The values of one combination of labels. */
type Series = { lines(name: string, labels: string): string[] };

export class Count implements Series {
  #value = 0;

  add(amount = 1): void {
    this.#value += amount;
  }

  lines(name: string, labels: string): string[] {
    return [line(name, labels, this.#value)];
  }
}

/** How many values are at most as large as each bound. */
export class Distribution implements Series {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
  }

  lines(name: string, labels: string): string[] {
    const others = labels === '' ? '' : `${labels},`;
    let total = 0;
    const buckets = this.#counts.map((count, i) => {
      total += count;
      return `${name}_bucket{${others}le="${this.#bounds[i] ?? '+Inf'}"} ${total}`;
    });
    return [...buckets, line(`${name}_sum`, labels, this.#sum), line(`${name}_count`, labels, total)];
  }
}

abstract class Family<S extends Series> implements Source {
  readonly definition: Definition;
  readonly #series = new Map<string, { labels: string; series: S }>();

  /** The labels of series that start at 0: Prometheus does not see an increase in the first value of a series. */
  constructor(definition: Definition, initial: readonly (readonly string[])[] = []) {
    this.definition = definition;
    for (const values of initial) this.with(...values);
  }

  /** The series with these values of the labels. Keep it if you use it often. */
  with(...values: string[]): S {
    // Values come from the source code, and contain no spaces.
    const key = values.join(' ');
    const known = this.#series.get(key);
    if (known) return known.series;
    const series = this.create();
    this.#series.set(key, { labels: labelText(this.definition.labels, values), series });
    return series;
  }

  lines(): string[] {
    return [...this.#series.values()].flatMap(({ labels, series }) => series.lines(this.definition.name, labels));
  }

  protected abstract create(): S;
}

export class Counter extends Family<Count> {
  protected create(): Count {
    return new Count();
  }
}

export class Histogram extends Family<Distribution> {
  protected create(): Distribution {
    return new Distribution(this.definition.buckets ?? []);
  }
}

/** A number, or one for each combination of label values. Undefined or empty if this server does not have it. */
export type Reading = number | undefined | readonly (readonly [labels: readonly string[], value: number])[];

/** A metric that is read when Prometheus asks for it. */
export const sample = (definition: Definition, read: () => MaybePromise<Reading>): Source => ({
  lines: async () => linesOf(definition, await read()),
});

export function linesOf({ name, labels }: Definition, reading: Reading): string[] {
  if (reading === undefined) return [];
  if (typeof reading === 'number') return [line(name, '', reading)];
  return reading.map(([values, value]) => line(name, labelText(labels, values), value));
}

/** A metric without series is left out. */
export const textOf = ({ name, type, help }: Definition, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;

const line = (name: string, labels: string, value: number) =>
  labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`;

const labelText = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, i) => `${name}="${escaped(values[i] ?? '')}"`).join(',');

const escaped = (value: string) =>
  value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
