/** Counts the responses, because a test in which all requests are rejected would prove nothing. */
import assert from 'node:assert/strict';
import type { Operation } from './operations.ts';
import { isTurnedOff } from './valid-requests.ts';

export interface ResponseCounts {
  record(operation: Operation | undefined, status: number): void;
  /** Fails unless every operation has succeeded and failed at least once. */
  assertAllCovered(): void;
  /** All counts in one line. */
  summary(): string;
}

export function createResponseCounts(operations: readonly Operation[]): ResponseCounts {
  const byOperation = new Map(operations.map((operation) => [operation, new Map<number, number>()]));
  const elsewhere = new Map<number, number>();
  return {
    record(operation, status) {
      const counts = (operation && byOperation.get(operation)) ?? elsewhere;
      counts.set(status, (counts.get(status) ?? 0) + 1);
    },
    assertAllCovered() {
      for (const [operation, counts] of byOperation) {
        const { method, path } = operation;
        const statuses = [...counts.keys()];
        const covered = { succeeded: statuses.some((it) => it < 300), rejected: statuses.some((it) => it >= 400) };
        // Chance does not draw the id of an upload, of a link, of a file that was just removed, a claim of a one-time
        // file, or a sealed text.
        if (isTurnedOff(operation) || /\/uploads|\/restore$|\/compact$|\/claims?(\/|$)|\/links\//.test(path))
          covered.succeeded = true;
        assert.deepEqual(covered, { succeeded: true, rejected: true }, `${method} ${path} only returned ${statuses}`);
      }
      assert.ok(elsewhere.has(404) && elsewhere.has(405) && elsewhere.has(204));
    },
    summary() {
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
