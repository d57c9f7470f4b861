/** Files, one after the other. */

import type { Input } from './command.ts';
import { inJson } from './output.ts';
import { printable } from './printable.ts';

export interface Handled {
  /** With `--json`, one of the array. */
  value: unknown;
  /** A line for people. */
  line: string;
}

/** Each is printed when it is done, with `--json` all at the end. Where one fails, it is told which are done. */
export async function runSequentially<T extends { name: string }>(
  input: Input,
  { items, verb }: { items: readonly T[]; verb: string },
  work: (item: T) => Promise<Handled>,
): Promise<void> {
  const done: Handled[] = [];
  try {
    for (const item of items) {
      const handled = await work(item);
      done.push(handled);
      if (!input.isSet('json')) console.log(handled.line);
    }
  } catch (error) {
    if (done.length > 0) console.error(howFar(verb, items, done.length));
    throw error;
  } finally {
    if (input.isSet('json') && (done.length > 0 || items.length === 0)) {
      console.log(inJson(done.map(({ value }) => value)));
    }
  }
}

function howFar(verb: string, items: readonly { name: string }[], count: number): string {
  const names = (some: readonly { name: string }[]) => some.map(({ name }) => `"${printable(name)}"`).join(', ');
  return `${verb}: ${names(items.slice(0, count))}; not ${verb.toLowerCase()}: ${names(items.slice(count))}.`;
}
