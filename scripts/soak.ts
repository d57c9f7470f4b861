/**
 * `npm run soak [-- --minutes N]`: runs a mix of all operations at half of the server's capacity, and checks that its
 * memory and open files do not grow. Prints Markdown for docs/reliability.md. The exit code is 1 if a check fails.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually } from '../test/support/eventually.ts';
import { launch, portIn } from '../test/support/process.ts';
import { type Sample, sampleOf } from './soak/samples.ts';
import { judge, quarterTable, sampleTable } from './soak/verdict.ts';
import { createVisitors, type Visitors } from './soak/visitors.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0.');

const atOnce = 32;
const measureForMs = 10_000;
const sampleEveryMs = 10_000;
const settings = {
  POPROOM_ROOM_TTL: '60',
  POPROOM_FREE_LIMIT: '0',
  POPROOM_CLIENT_MAX_BYTES: '900000GiB',
  // A visitor may join a room that another one has just deleted.
  POPROOM_MISS_LIMIT: '0',
  POPROOM_MAX_CHANNELS_PER_CLIENT: '10000',
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
  console.log(`\nThe server exited with ${(await exit).code}.`);
  await rm(folder, { recursive: true, force: true });
}

async function soak(server: { pid: number; port: number; folder: string }): Promise<number> {
  const visitors = createVisitors(server.port);
  const capacity = await visit(visitors, { forMs: measureForMs, perSecond: Number.POSITIVE_INFINITY });
  const visiting = visit(visitors, { forMs: minutes * 60_000, perSecond: capacity / 2 });
  const samples = await sampleUntil(visiting, () => sampleOf(server));
  const rate = await visiting;
  await visitors.leave();
  tell({ capacity, rate, samples, visitors });
  const flaws = [...judge(samples), ...visitors.surprises()];
  for (const flaw of flaws) console.log(`- **Failed:** ${flaw}`);
  if (flaws.length === 0)
    console.log('- Memory and open files did not grow in the second half, and every response was as expected.');
  return flaws.length > 0 ? 1 : 0;
}

/** Resolves to the number of operations per second. */
async function visit(visitors: Visitors, { forMs, perSecond }: { forMs: number; perSecond: number }): Promise<number> {
  const [since, before] = [performance.now(), visitors.done()];
  const everyMs = (atOnce / perSecond) * 1000;
  const passed = () => performance.now() - since;
  const one = async (i: number) => {
    for (let due = (everyMs * i) / atOnce; passed() < forMs; due += everyMs) {
      const ahead = due - passed();
      if (ahead > 0) await pause(ahead);
      await visitors.act();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, i) => one(i)));
  return ((visitors.done() - before) / passed()) * 1000;
}

async function sampleUntil(over: Promise<unknown>, take: () => Promise<Sample>): Promise<Sample[]> {
  const samples: Sample[] = [];
  const isOver = over.then(() => true);
  do samples.push(await take());
  while (!(await Promise.race([isOver, pause(sampleEveryMs, false)])));
  return samples;
}

interface Told {
  capacity: number;
  rate: number;
  samples: Sample[];
  visitors: Visitors;
}

function tell({ capacity, rate, samples, visitors }: Told): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model || process.arch}, Node ${process.version}`;
  console.log(`${new Date().toISOString().slice(0, 10)}, ${minutes} minutes, ${machine}.\n`);
  const share = Math.round((rate / capacity) * 100);
  console.log(
    `The server handled at most ${Math.round(capacity)} operations per second. The test ran at ${Math.round(rate)} per second (${share} %).\n`,
  );
  console.log(`${sampleTable(samples)}\n`);
  console.log(`${quarterTable(samples)}\n`);
  console.log(`- ${visitors.told()}`);
}
