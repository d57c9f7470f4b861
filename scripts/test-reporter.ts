/** Prints a test run for people: a line for each file, what failed and why, and a summary. */
import { relative } from 'node:path';
import { inspect } from 'node:util';

interface Event {
  type: string;
  data: {
    name?: string;
    file?: string;
    line?: number;
    /** 0 for the run itself. */
    nesting?: number;
    message?: string;
    skip?: boolean | string;
    details?: { type?: string; error?: Error & { cause?: unknown; failureType?: string } };
    counts?: Counts;
    duration_ms?: number;
  };
}

interface Counts {
  tests: number;
  passed: number;
  failed: number;
  skipped: number;
}

interface Failure {
  name: string;
  place: string;
  reason: string;
}

const slowestShown = 5;

export default async function* report(events: AsyncIterable<Event>): AsyncGenerator<string> {
  const failures: Failure[] = [];
  const files: { name: string; seconds: number }[] = [];
  let total: Counts | undefined;
  let totalSeconds = 0;
  for await (const { type, data } of events) {
    if (type === 'test:fail' && isOwnFailure(data)) {
      const failure = failureOf(data);
      failures.push(failure);
      // Again with all details at the end.
      yield `  ✖ ${failure.name} (${failure.place})\n`;
    }
    if (type === 'test:stderr' && data.message) yield data.message;
    if (type === 'test:diagnostic' && data.nesting) yield `    ${data.message}\n`;
    if (type !== 'test:summary' || !data.counts) continue;
    const seconds = (data.duration_ms ?? 0) / 1000;
    if (data.file) {
      const name = relative('', data.file);
      files.push({ name, seconds });
      yield lineOf(name, data.counts, seconds);
    } else [total, totalSeconds] = [data.counts, seconds];
  }
  for (const { name, place, reason } of failures) yield `\n✖ ${name}\n  ${place}\n${reason.replaceAll(/^/gm, '  ')}\n`;
  if (total) yield summaryOf(total, files.length, totalSeconds);
  yield `Slowest: ${slowestOf(files)}\n`;
}

/** A suite fails with its tests, and says nothing of its own. */
const isOwnFailure = ({ details }: Event['data']) => details?.error?.failureType !== 'subtestsFailed';

function failureOf({ name = '', file = '', line, details }: Event['data']): Failure {
  const error = details?.error?.cause ?? details?.error;
  return { name, place: `${relative('', file)}:${line ?? ''}`, reason: inspect(error, { depth: 4 }) };
}

function lineOf(name: string, { tests, failed, skipped }: Counts, seconds: number): string {
  const details = [count(tests, 'test'), failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`];
  const figures = details.filter(Boolean).join(', ');
  return `${failed > 0 ? '✖' : '✔'} ${name.padEnd(48)} ${seconds.toFixed(1).padStart(6)} s  ${figures}\n`;
}

function summaryOf({ tests, passed, failed, skipped }: Counts, fileCount: number, seconds: number): string {
  const time = `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  const verdict = failed === 0 ? 'All passed' : `${failed} FAILED`;
  return `\n${verdict}: ${count(tests, 'test')} in ${count(fileCount, 'file')}, ${passed} passed, ${skipped} skipped, in ${time}.\n`;
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;

function slowestOf(files: { name: string; seconds: number }[]): string {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  return slowest.map(({ name, seconds }) => `${name} (${seconds.toFixed(0)} s)`).join(', ');
}
