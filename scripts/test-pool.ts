/** Runs test files in processes, several at a time, and prints a line for each of them and a summary. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Failure, TestEvent } from './test-reporter.ts';
import { type EngineName, lineOf, type Result, summaryOf } from './test-summary.ts';

/** Files that run one after another in one process. */
export interface Job {
  files: readonly string[];
  engine: EngineName;
  /** Which of their tests: those with the mark of slow tests, the others, or both. */
  tests: 'fast' | 'slow' | 'all';
}

/** Environment variables with the addresses of the stores. */
type StoreSettings = Record<string, string>;

/** Many tests wait for a timer or a browser, so two more processes than cores keep the cores busy. */
const concurrency = availableParallelism() + 2;
const testTimeoutMs = 120_000;
const fileTimeoutMs = 900_000;

/** Jobs start in the given order. A signal ends those that run, whose results are not reported. */
export async function runPool(
  jobs: readonly Job[],
  stores: StoreSettings,
): Promise<'passed' | 'failed' | 'interrupted'> {
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
  const started = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'poproom-tests-'));
  const results: Result[] = [];
  const waiting = jobs.entries();
  const work = async () => {
    for (const [index, job] of waiting) {
      const env = job.engine === 'distributed' ? stores : {};
      const run = { job, env, eventsFile: join(folder, String(index)), signal: interruption.signal };
      for await (const result of runJob(run)) {
        if (interruption.signal.aborted) return;
        results.push(result);
        process.stdout.write(lineOf(result));
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  await rm(folder, { recursive: true });
  const notRun = jobs.flatMap((job) => job.files).length - results.length;
  process.stdout.write(summaryOf(results, { notRun, ms: performance.now() - started }));
  if (interruption.signal.aborted) return 'interrupted';
  return notRun === 0 && results.every(({ failures }) => failures.length === 0) ? 'passed' : 'failed';
}

interface JobRun {
  job: Job;
  env: StoreSettings;
  eventsFile: string;
  signal: AbortSignal;
}

/** If a file ends the process, the files after it run in another one. */
async function* runJob({ job, ...run }: JobRun): AsyncGenerator<Result> {
  let { files } = job;
  while (files.length > 0 && !run.signal.aborted) {
    const results = await runProcess({ ...run, job: { ...job, files } });
    yield* results;
    files = files.slice(results.length);
  }
}

/** Options of Node. Tests that they leave out are not reported. */
const selection = {
  fast: [String.raw`--test-skip-pattern=\[slow\]`],
  slow: [String.raw`--test-name-pattern=\[slow\]`],
  all: [],
} as const;

/** Returns the results of the files that were started, at least one. */
async function runProcess({ job, env, eventsFile, signal }: JobRun): Promise<Result[]> {
  const started = performance.now();
  const reporter = pathToFileURL(resolve('scripts/test-reporter.ts')).href;
  const args = [
    `--test-timeout=${testTimeoutMs}`,
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${eventsFile}`,
    ...selection[job.tests],
    'scripts/test-files.ts',
    ...job.files,
  ];
  // Compiling takes a quarter of the time of a file without the cache.
  const cache = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/tests') };
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...cache, ...env },
    signal,
    timeout: fileTimeoutMs * job.files.length,
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => output.push(text));
  child.on('error', (error) => output.push(String(error)));
  const ended = await endOf(child);
  const seconds = (performance.now() - started) / 1000;
  const events = parseEvents(await readFile(eventsFile, 'utf8').catch(() => ''));
  return resultsOf(job, events, { ended, seconds, output: output.join('') });
}

/** Not `once` of node:events, which rejects when the signal aborts the process. */
function endOf(child: ChildProcess): Promise<Ending['ended']> {
  return new Promise((resolve) => void child.once('close', (code, killedBy) => resolve(killedBy ?? code ?? 1)));
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

/** How a process ended. */
interface Ending {
  ended: number | NodeJS.Signals;
  seconds: number;
  output: string;
}

/** If the process failed and no test did, the file that ran last has failed. */
function resultsOf({ files, engine }: Job, events: readonly TestEvent[], ending: Ending): Result[] {
  const started = events.filter((event) => event.type === 'file started').length;
  const ran = files.slice(0, Math.max(1, started));
  const parts = ran.map((file) => eventsOf(file, events));
  let cpuBefore = 0;
  const hasFailed = events.some(({ type }) => type === 'failed');
  return ran.map((file, index) => {
    const own = parts[index] ?? [];
    const isLast = index === ran.length - 1;
    const isCut = !own.some(({ type }) => type === 'file ended') || (isLast && ending.ended !== 0 && !hasFailed);
    const failures = own.flatMap((event) => (event.type === 'failed' ? [event.failure] : []));
    if (isCut) failures.push(abnormalEnd(file, ending, own));
    const cpuTotal = own.find((event) => event.type === 'file ended')?.cpuSeconds ?? cpuBefore;
    const cpuSeconds = cpuTotal - cpuBefore;
    cpuBefore = cpuTotal;
    return resultOf({ file, engine, failures, cpuSeconds, output: ending.output }, own, ending);
  });
}

function eventsOf(file: string, events: readonly TestEvent[]): TestEvent[] {
  const first = events.findIndex((event) => event.type === 'file started' && event.file === file);
  if (first < 0) return [];
  const last = events.findIndex((event) => event.type === 'file ended' && event.file === file);
  return events.slice(first, last < 0 ? undefined : last + 1);
}

function resultOf(
  known: Pick<Result, 'file' | 'engine' | 'failures' | 'cpuSeconds' | 'output'>,
  events: readonly TestEvent[],
  ending: Ending,
): Result {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const event of events) if (event.type === 'ended' && event.outcome) counts[event.outcome] += 1;
  const seconds = events.find((event) => event.type === 'file ended')?.seconds ?? ending.seconds;
  const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []));
  return { ...known, seconds, counts, notes };
}

function abnormalEnd(file: string, { ended, seconds }: Ending, events: readonly TestEvent[]): Failure {
  const name = unfinishedTest(events) ?? 'the file as a whole';
  const how = typeof ended === 'number' ? `exited with code ${ended}` : `was killed by ${ended}`;
  return { name, place: file, reason: `The process ${how} after ${seconds.toFixed(0)} s.` };
}

function unfinishedTest(events: readonly TestEvent[]): string | undefined {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'started') open.add(event.name);
    if (event.type === 'ended') open.delete(event.name);
  }
  return [...open].at(-1);
}
