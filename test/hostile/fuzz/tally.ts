/** Counts the responses: requests that are all rejected early would prove nothing. */
import assert from 'node:assert/strict';
import type { Operation } from './operations.ts';

export interface Tally {
  note(operation: Operation | undefined, status: number): void;
  /** Fails unless every operation was served as well as refused. */
  assertAllMet(): void;
  /** In one line. */
  told(): string;
}

export function createTally(operations: readonly Operation[]): Tally {
  const byOperation = new Map(operations.map((operation) => [operation, new Map<number, number>()]));
  const elsewhere = new Map<number, number>();
  return {
    note(operation, status) {
      const counts = (operation && byOperation.get(operation)) ?? elsewhere;
      counts.set(status, (counts.get(status) ?? 0) + 1);
    },
    assertAllMet() {
      for (const [{ method, path }, counts] of byOperation) {
        const statuses = [...counts.keys()];
        const isMet = { served: statuses.some((it) => it < 300), refused: statuses.some((it) => it >= 400) };
        assert.deepEqual(isMet, { served: true, refused: true }, `${method} ${path} was answered ${statuses} only`);
      }
      assert.ok(elsewhere.has(404) && elsewhere.has(405) && elsewhere.has(204));
    },
    told() {
      const all = new Map<number, number>();
      for (const counts of [...byOperation.values(), elsewhere]) {
        for (const [status, count] of counts) all.set(status, (all.get(status) ?? 0) + count);
      }
      return [...all]
        .sort()
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ');
    },
  };
}
