/** Runs test files as processes, several at a time, and prints a line for each of them and a summary. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Counts, Failure, TestEvent } from './test-reporter.ts';

export interface Job {
  file: string;
  engine: 'embedded' | 'distributed';
}

/** Environment variables with the addresses of the stores. */
type StoreSettings = Record<string, string>;

interface Result {
  job: Job;
  seconds: number;
  counts: Counts;
  failures: Failure[];
  notes: string[];
  /** Everything that the file printed. */
  output: string;
}

/** Many tests wait for a timer or a browser, so two more files than cores keep the cores busy. */
const concurrency = availableParallelism() + 2;
const testTimeoutMs = 120_000;
const fileTimeoutMs = 240_000;
const slowestShown = 5;

/** Resolves to whether everything passed. Jobs start in the given order; a signal ends those that run. */
export async function runPool(jobs: readonly Job[], stores: StoreSettings): Promise<boolean> {
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
  const started = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'poproom-tests-'));
  const results: Result[] = [];
  const waiting = jobs.entries();
  const work = async () => {
    for (const [index, job] of waiting) {
      if (interruption.signal.aborted) return;
      const env = job.engine === 'distributed' ? stores : {};
      const result = await runFile({ job, env, eventsFile: join(folder, String(index)), signal: interruption.signal });
      results.push(result);
      process.stdout.write(lineOf(result));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  await rm(folder, { recursive: true });
  process.stdout.write(summaryOf(results, performance.now() - started));
  return results.length === jobs.length && results.every(({ failures }) => failures.length === 0);
}

interface FileRun {
  job: Job;
  env: StoreSettings;
  eventsFile: string;
  signal: AbortSignal;
}

async function runFile({ job, env, eventsFile, signal }: FileRun): Promise<Result> {
  const started = performance.now();
  const reporter = pathToFileURL(resolve('scripts/test-reporter.ts')).href;
  const args = [
    `--test-timeout=${testTimeoutMs}`,
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${eventsFile}`,
    job.file,
  ];
  // Compiling takes a quarter of the time of a file without the cache.
  const cache = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/tests') };
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...cache, ...env },
    signal,
    timeout: fileTimeoutMs,
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => output.push(text));
  child.on('error', (error) => output.push(String(error)));
  const [code, killedBy] = await once(child, 'close');
  const events = await readFile(eventsFile, 'utf8').catch(() => '');
  const seconds = (performance.now() - started) / 1000;
  return resultOf(job, seconds, parseEvents(events), { ended: killedBy ?? code, output: output.join('') });
}

/** The last line of a killed process may be incomplete. */
function parseEvents(lines: string): TestEvent[] {
  return lines.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as TestEvent];
    } catch {
      return [];
    }
  });
}

function resultOf(
  job: Job,
  seconds: number,
  events: readonly TestEvent[],
  { ended, output }: { ended: number | NodeJS.Signals; output: string },
): Result {
  const failures = events.flatMap((event) => (event.type === 'failed' ? [event.failure] : []));
  const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []));
  const counts = events.findLast((event) => event.type === 'counts')?.counts;
  if (ended !== 0 && failures.length === 0) failures.push(abnormalEnd(job, ended, events));
  return { job, seconds, counts: counts ?? noCounts(failures.length), failures, notes, output };
}

function abnormalEnd({ file }: Job, ended: number | NodeJS.Signals, events: readonly TestEvent[]): Failure {
  const name = unfinishedTest(events) ?? 'the file as a whole';
  const how = typeof ended === 'number' ? `exited with code ${ended}` : `was killed by ${ended}`;
  return { name, place: file, reason: `The process ${how} after ${fileTimeoutMs / 1000} s at the latest.` };
}

function unfinishedTest(events: readonly TestEvent[]): string | undefined {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'started') open.add(event.name);
    if (event.type === 'ended') open.delete(event.name);
  }
  return [...open].at(-1);
}

const noCounts = (failed: number): Counts => ({ tests: failed, passed: 0, failed, skipped: 0 });

function lineOf({ job, seconds, counts, failures, notes }: Result): string {
  const { tests, failed, skipped } = counts;
  const figures = [plural(tests, 'test'), failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`];
  const head = `${failures.length > 0 ? '✖' : '✔'} ${job.file.padEnd(48)} ${seconds.toFixed(1).padStart(6)} s`;
  const where = job.engine === 'distributed' ? ' on Redis and S3' : '';
  const failedTests = failures.map(({ name, place }) => `  ✖ ${name} (${place})\n`);
  return [
    `${head}  ${figures.filter(Boolean).join(', ')}${where}\n`,
    ...failedTests,
    ...notes.map((text) => `    ${text}\n`),
  ].join('');
}

function summaryOf(results: readonly Result[], ms: number): string {
  const failed = results.flatMap(({ job, failures, output }) =>
    failures.map((failure, index) => detailsOf(job, failure, index === failures.length - 1 ? output : '')),
  );
  return [...failed, '\n', ...engineTotals(results), verdictOf(results, ms), slowestOf(results)].join('');
}

function detailsOf({ engine }: Job, { name, place, reason }: Failure, output: string): string {
  const indented = [reason, output.trimEnd()].filter(Boolean).join('\n').replaceAll(/^/gm, '  ');
  return `\n✖ ${name}\n  ${place}, ${engine} engine\n${indented}\n`;
}

function engineTotals(results: readonly Result[]): string[] {
  return (['embedded', 'distributed'] as const).flatMap((engine) => {
    const own = results.filter(({ job }) => job.engine === engine);
    const total = (key: keyof Counts) => own.reduce((sum, { counts }) => sum + counts[key], 0);
    if (own.length === 0) return [];
    const figures = `${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped`;
    return [
      `${`${engine} engine`.padEnd(19)} ${plural(total('tests'), 'test')} in ${plural(own.length, 'file')}: ${figures}\n`,
    ];
  });
}

function verdictOf(results: readonly Result[], ms: number): string {
  const failed = results.filter(({ failures }) => failures.length > 0);
  const time = `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  if (failed.length === 0) return `All passed in ${time}.\n`;
  return `FAILED in ${time}: ${failed.map(({ job }) => job.file).join(', ')}\n`;
}

function slowestOf(results: readonly Result[]): string {
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  return `Slowest: ${slowest.map(({ job, seconds }) => `${job.file} (${seconds.toFixed(0)} s)`).join(', ')}\n`;
}

const plural = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;
