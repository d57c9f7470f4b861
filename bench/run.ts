/**
 * `npm run bench`: compares Poproom with minimal servers in one run on one machine, so that the ratios are meaningful.
 * `--only NAME,…` runs some of the rows; `--against REV` compares this checkout with another revision instead.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareWith, comparisons } from './against.ts';
import { pinToClientCore } from './processes.ts';
import { compareBroadcast } from './rows/broadcast.ts';
import { compareFiles } from './rows/files.ts';
import { measureIdle } from './rows/idle.ts';
import { measurePage } from './rows/page.ts';
import { compareReading, compareReadingWithPin, compareWriting } from './rows/requests.ts';
import { compareManyOnRedis, compareManyOnSqlite } from './rows/rooms.ts';
import { compareRest, compareStart } from './rows/start.ts';
import { measureEdits, measureWatchers, measureWire } from './rows/text.ts';
import { ownRoot } from './servers.ts';
import { heading, line, type Row } from './table.ts';

const rows: Record<string, () => Promise<Row[]>> = {
  read: compareReading,
  'pin-read': compareReadingWithPin,
  write: compareWriting,
  wire: measureWire,
  edits: measureEdits,
  watchers: measureWatchers,
  page: measurePage,
  files: compareFiles,
  broadcast: compareBroadcast,
  idle: measureIdle,
  rooms: compareManyOnSqlite,
  'redis-rooms': compareManyOnRedis,
  start: compareStart,
  rest: compareRest,
};

const { values } = parseArgs({ options: { only: { type: 'string' }, against: { type: 'string' } } });
const known = Object.keys(values.against ? comparisons : rows);
const names = values.only?.split(',') ?? known;
const unknown = names.find((name) => !known.includes(name));
if (unknown) fail(`Unknown row "${unknown}". Known rows: ${known.join(', ')}.`);
for (const program of ['wrk', 'taskset']) needs(program);
// What asks from within this process must not take the servers' core.
pinToClientCore();

execFileSync(process.execPath, [join(ownRoot, 'scripts/build.ts')], { cwd: ownRoot });
console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString()}`);
if (values.against) await compareWith(values.against, names);
else await measure();

async function measure(): Promise<void> {
  console.log(`\n${heading}`);
  for (const name of names) {
    for (const row of (await rows[name]?.()) ?? []) {
      console.log(line(row));
      if (!row.reached) process.exitCode = 1;
    }
  }
}

function needs(program: string): void {
  try {
    execFileSync('which', [program]);
  } catch {
    fail(`The benchmark needs ${program}; on Debian: apt-get install wrk util-linux`);
  }
}

function fail(why: string): never {
  console.error(why);
  process.exit(2);
}
