/**
 * `npm run soak [-- --minutes N]`: runs all operations for half an hour, at half of the maximum rate, and checks that memory
 * and open files do not grow. Prints Markdown for docs/reliability.md. The exit code is 1 if they grow.
 */
import { mkdtemp, rm, readdir, stat } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually } from '../test/support/eventually.ts';
import { launch, portIn } from '../test/support/process.ts';
import { createSimulatedUsers, type SimulatedUsers } from './soak-users.ts';
import { openHandles, residentMemory } from '../test/support/process-stats.ts';
import { table } from './markdown.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes must be greater than 0.');

const concurrency = 32;
const measureForMs = 10_000;
const sampleEveryMs = 10_000;
const settings = {
  POPROOM_ROOM_TTL: '60',
  POPROOM_FREE_LIMIT: '0',
  POPROOM_CLIENT_MAX_BYTES: '900000GiB',
  // A user may access a room that another one has just deleted.
  POPROOM_MISS_LIMIT: '0',
  POPROOM_MAX_CHANNELS_PER_CLIENT: '10000',
  POPROOM_WORK_LIMIT: '0',
  POPROOM_TRUSTED_PROXIES: '127.0.0.1',
  POPROOM_METRICS: 'true',
};

const folder = await mkdtemp(join(tmpdir(), 'poproom-soak-'));
const { child, output, exit } = launch(['serve'], { ...settings, POPROOM_DATA_DIR: folder });
process.once('exit', () => child.kill('SIGKILL'));
try {
  const port = await eventually('the server listens', () => portIn(output()), 30_000);
  process.exitCode = await soak({ pid: child.pid as number, port, folder });
} finally {
  child.kill('SIGTERM');
  console.log(`\nThe server exited with code ${(await exit).code}.`);
  await rm(folder, { recursive: true, force: true });
}

async function soak(server: { pid: number; port: number; folder: string }): Promise<number> {
  const users = createSimulatedUsers(server.port);
  const capacity = await runUsers(users, { forMs: measureForMs, perSecond: Number.POSITIVE_INFINITY });
  const running = runUsers(users, { forMs: minutes * 60_000, perSecond: capacity / 2 });
  const samples = await sampleUntil(running, () => sampleOf(server));
  const rate = await running;
  await users.close();
  printReport({ capacity, rate, samples, users });
  const problems = [...findGrowth(samples), ...users.unexpected()];
  for (const flaw of problems) console.log(`- **Problem:** ${flaw}`);
  if (problems.length === 0)
    console.log('- Memory and open files were flat in the second half, and there were no unexpected responses.');
  return problems.length > 0 ? 1 : 0;
}

/** Returns the number of actions per second. */
async function runUsers(
  visitors: SimulatedUsers,
  { forMs, perSecond }: { forMs: number; perSecond: number },
): Promise<number> {
  const [startedAt, before] = [performance.now(), visitors.actionCount()];
  const everyMs = (concurrency / perSecond) * 1000;
  const elapsed = () => performance.now() - startedAt;
  const runUser = async (i: number) => {
    for (let due = (everyMs * i) / concurrency; elapsed() < forMs; due += everyMs) {
      const ahead = due - elapsed();
      if (ahead > 0) await pause(ahead);
      await visitors.act();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, i) => runUser(i)));
  return ((visitors.actionCount() - before) / elapsed()) * 1000;
}

async function sampleUntil(end: Promise<unknown>, take: () => Promise<Sample>): Promise<Sample[]> {
  const samples: Sample[] = [];
  const hasEnded = end.then(() => true);
  do samples.push(await take());
  while (!(await Promise.race([hasEnded, pause(sampleEveryMs, false)])));
  return samples;
}

interface Report {
  capacity: number;
  rate: number;
  samples: Sample[];
  users: SimulatedUsers;
}

function printReport({ capacity, rate, samples, users }: Report): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model || process.arch}, Node ${process.version}`;
  console.log(`${new Date().toISOString().slice(0, 10)}, ${minutes} minutes, ${machine}.\n`);
  const share = Math.round((rate / capacity) * 100);
  console.log(
    `The maximum was ${Math.round(capacity)} actions per second. The test ran at ${Math.round(rate)} per second (${share} %).\n`,
  );
  console.log(`${sampleTable(samples)}\n`);
  console.log(`${quarterTable(samples)}\n`);
  console.log(`- ${users.summary()}`);
}

/** Samples the memory, the open files and the data folder of the server. */


interface Sample {
  /** Seconds since the start of this process. */
  at: number;
  /** MiB. */
  rss: number;
  heap: number;
  folder: number;
  handles: number;
  rooms: number;
  channels: number;
}

const MiB = 1024 * 1024;

async function sampleOf({ pid, port, folder }: { pid: number; port: number; folder: string }): Promise<Sample> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1]);
  return {
    at: performance.now() / 1000,
    rss: await residentMemory(pid),
    heap: metric('nodejs_heap_size_used_bytes') / MiB,
    folder: (await bytesIn(folder)) / MiB,
    handles: (await openHandles(pid)).length,
    rooms: metric('poproom_rooms'),
    channels: metric('poproom_live_channels'),
  };
}

/** Ignores files that disappear during the count. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    if (!entry.isFile()) return 0;
    return (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Checks whether the samples grow, and formats them as tables. */


interface Bound {
  metric: 'rss' | 'handles';
  name: string;
  /** The allowed growth from the maximum of the third quarter to that of the last, as a fraction. */
  growth: number;
  /** Growth up to this amount is always allowed. */
  tolerance: number;
  /** The allowed ratio of maximum to minimum in the second half. */
  spread: number;
}

/**
 * Between two garbage collections, which are minutes apart, memory varies by a quarter. A linear trend would depend on
 * where in this cycle the samples start and end, so compare the maxima of quarters.
 */
const bounds: Bound[] = [
  { metric: 'rss', name: 'memory (MiB)', growth: 0.08, tolerance: 8, spread: 1.5 },
  { metric: 'handles', name: 'open files', growth: 0.1, tolerance: 20, spread: 1.8 },
];

/** One sentence for each metric that grows in the second half. */
function findGrowth(samples: readonly Sample[]): string[] {
  return bounds.flatMap(({ metric, name, growth, tolerance, spread }) => {
    const values = samples.slice(samples.length >> 1).map((sample) => sample[metric]);
    const [before, after] = [values.slice(0, values.length >> 1), values.slice(values.length >> 1)];
    const problems: string[] = [];
    const [was, is] = [Math.max(...before), Math.max(...after)];
    const maxGrowth = Math.max(growth * was, tolerance);
    if (is - was > maxGrowth)
      problems.push(`${name} grew from ${was.toFixed(0)} to ${is.toFixed(0)} (maximum of a quarter).`);
    const ratio = Math.max(...values) / Math.min(...values);
    if (ratio > spread)
      problems.push(`${name}: the maximum is ${ratio.toFixed(2)} times the minimum; the limit is ${spread}.`);
    return problems;
  });
}

/** The range of each metric per quarter. */
function quarterTable(samples: readonly Sample[]): string {
  const quarters = [0, 1, 2, 3].map((quarter) =>
    samples.slice((samples.length * quarter) / 4, (samples.length * (quarter + 1)) / 4),
  );
  const row = ({ metric, name }: Bound) => [
    `${name}, lowest to highest`,
    ...quarters.map((quarter) => {
      const values = quarter.map((sample) => sample[metric]);
      return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
    }),
  ];
  return table(['', 'first quarter', 'second', 'third', 'last'], bounds.map(row));
}

const maxRows = 16;

const head = ['minute', 'RSS (MiB)', 'heap (MiB)', 'open files', 'data folder (MiB)', 'rooms', 'live channels'];

function sampleTable(samples: readonly Sample[]): string {
  const every = Math.ceil(samples.length / maxRows);
  const shown = samples.filter((_, i) => i % every === 0 || i === samples.length - 1);
  const start = samples[0]?.at ?? 0;
  const rows = shown.map(({ at, rss, heap, handles, folder, rooms, channels }) => [
    ((at - start) / 60).toFixed(1),
    ...[rss, heap, handles, folder, rooms, channels].map((value) => value.toFixed(0)),
  ]);
  return table(head, rows);
}
