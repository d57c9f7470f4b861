/** Writes the results of one test file as lines of JSON, for the pool that started it. */
import { relative } from 'node:path';
import { inspect } from 'node:util';

export type TestEvent =
  | { type: 'started' | 'ended'; name: string }
  | { type: 'failed'; failure: Failure }
  | { type: 'note'; text: string }
  | { type: 'counts'; counts: Counts };

export interface Counts {
  tests: number;
  passed: number;
  failed: number;
  skipped: number;
}

export interface Failure {
  name: string;
  place: string;
  reason: string;
}

/** An event of Node's test runner: the fields that are used here. */
interface RunnerEvent {
  type: string;
  data: {
    name?: string;
    file?: string;
    line?: number;
    /** 0 for the run itself. */
    nesting?: number;
    message?: string;
    details?: { error?: Error & { cause?: unknown; failureType?: string } };
    counts?: Counts & { cancelled: number };
  };
}

export default async function* report(events: AsyncIterable<RunnerEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    for (const converted of convert(event)) yield `${JSON.stringify(converted)}\n`;
  }
}

function* convert({ type, data }: RunnerEvent): Generator<TestEvent> {
  const { name = '', nesting, message = '', counts } = data;
  if (type === 'test:start') yield { type: 'started', name };
  if (type === 'test:pass' || type === 'test:fail') yield { type: 'ended', name };
  if (type === 'test:fail' && isOwnFailure(data)) yield { type: 'failed', failure: failureOf(data) };
  if (type === 'test:diagnostic' && nesting) yield { type: 'note', text: message };
  if (type === 'test:summary' && counts) yield { type: 'counts', counts: withCancelled(counts) };
}

/** A suite also fails when one of its tests does. */
const isOwnFailure = ({ details }: RunnerEvent['data']) => details?.error?.failureType !== 'subtestsFailed';

/** Node counts tests that ran into a timeout separately. */
const withCancelled = ({ tests, passed, failed, skipped, cancelled }: Counts & { cancelled: number }): Counts => ({
  tests,
  passed,
  failed: failed + cancelled,
  skipped,
});

function failureOf({ name = '', file = '', line, details }: RunnerEvent['data']): Failure {
  const error = details?.error?.cause ?? details?.error;
  return { name, place: `${relative('', file)}:${line ?? ''}`, reason: inspect(error, { depth: 4 }) };
}
