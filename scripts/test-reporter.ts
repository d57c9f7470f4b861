/** Writes the results of the test files of one process as lines of JSON, for the pool that started it. */
import { relative } from 'node:path';
import { inspect } from 'node:util';
import { cpuSeconds, watchCpu } from './test-cpu.ts';

export type TestEvent =
  | { type: 'file started'; file: string }
  /** `cpuSeconds` is the total of the process and of those that it started, since its start. */
  | { type: 'file ended'; file: string; seconds: number; cpuSeconds: number }
  | { type: 'started'; name: string }
  /** A suite has no outcome, because only its tests count. */
  | { type: 'ended'; name: string; outcome?: Outcome }
  | { type: 'failed'; failure: Failure }
  | { type: 'note'; text: string };

export type Outcome = 'passed' | 'failed' | 'skipped';

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
    /** 0 for the suite of a file, and for the run itself. */
    nesting?: number;
    message?: string;
    skip?: string | boolean;
    details?: { type?: string; duration_ms?: number; error?: Error & { cause?: unknown; failureType?: string } };
  };
}

export default async function* report(events: AsyncIterable<RunnerEvent>): AsyncGenerator<string> {
  watchCpu();
  for await (const event of events) {
    for (const converted of convert(event)) yield `${JSON.stringify(converted)}\n`;
  }
}

function* convert({ type, data }: RunnerEvent): Generator<TestEvent> {
  const { name = '', nesting, message = '' } = data;
  if (type === 'test:start') yield nesting ? { type: 'started', name } : { type: 'file started', file: name };
  if (type === 'test:fail' && isOwnFailure(data)) yield { type: 'failed', failure: failureOf(data) };
  if (type === 'test:pass' || type === 'test:fail') yield endOf(type, data);
  if (type === 'test:diagnostic' && nesting) yield { type: 'note', text: message };
}

/** A suite also fails when one of its tests does. */
const isOwnFailure = ({ details }: RunnerEvent['data']) => details?.error?.failureType !== 'subtestsFailed';

function endOf(type: string, { name = '', nesting, skip, details }: RunnerEvent['data']): TestEvent {
  if (!nesting)
    return { type: 'file ended', file: name, seconds: (details?.duration_ms ?? 0) / 1000, cpuSeconds: cpuSeconds() };
  if (details?.type === 'suite') return { type: 'ended', name };
  const outcome = type === 'test:fail' ? 'failed' : skip === undefined || skip === false ? 'passed' : 'skipped';
  return { type: 'ended', name, outcome };
}

/** A file fails as a whole if it cannot be imported. */
function failureOf({ name = '', file = '', line, nesting, details }: RunnerEvent['data']): Failure {
  const error = details?.error?.cause ?? details?.error;
  const place = nesting ? `${relative('', file)}:${line ?? ''}` : name;
  return { name: nesting ? name : 'the file as a whole', place, reason: inspect(error, { depth: 4 }) };
}
