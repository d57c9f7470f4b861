/**
 * `npm run soak [-- --minutes N]`: runs all operations for half an hour, at half of the maximum rate, and checks that memory
 * and open files do not grow. Prints Markdown for docs/reliability.md. The exit code is 1 if they grow.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually } from '../test/support/eventually.ts';
import { launch, portIn } from '../test/support/process.ts';
import { findGrowth, quarterTable, type Sample, sampleOf, sampleTable } from './soak-report.ts';
import { createSimulatedUsers, type SimulatedUsers } from './soak-users.ts';

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
