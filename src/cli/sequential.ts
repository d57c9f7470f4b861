/** Processes files one after the other. */

import type { Input } from './command.ts';
import { formatJson } from './output.ts';
import { printable } from './printable.ts';

export interface ItemResult {
  /** Element of the array that `--json` prints. */
  value: unknown;
  /** Printed without `--json`. */
  line: string;
}

interface Batch<T> {
  items: readonly T[];
  /** Such as "Sent". */
  verb: string;
  /** The output of `--json`, also if nothing is done. Default: the values as an array, if there are any. */
  toJson?(values: readonly unknown[]): unknown;
}

/** Prints each result when it is done, or with `--json` all of them at the end. A failure reports which are done. */
export async function runSequentially<T extends { name: string }>(
  input: Input,
  { items, verb, toJson }: Batch<T>,
  work: (item: T) => Promise<ItemResult>,
): Promise<void> {
  const done: ItemResult[] = [];
  try {
    for (const item of items) {
      const handled = await work(item);
      done.push(handled);
      if (!input.isSet('json')) console.log(handled.line);
    }
  } catch (error) {
    // With --json, the output lists those that are done.
    if (done.length > 0 && !input.isSet('json')) console.error(partialResult(verb, items, done.length));
    throw error;
  } finally {
    const values = done.map(({ value }) => value);
    const isPrinted = toJson !== undefined || done.length > 0 || items.length === 0;
    if (input.isSet('json') && isPrinted) console.log(formatJson(toJson ? toJson(values) : values));
  }
}

function partialResult(verb: string, items: readonly { name: string }[], count: number): string {
  const names = (some: readonly { name: string }[]) => some.map(({ name }) => `"${printable(name)}"`).join(', ');
  return `${verb}: ${names(items.slice(0, count))}; not ${verb.toLowerCase()}: ${names(items.slice(count))}.`;
}
