/**
 * `npm run bench`: compares Poproom with bare servers on one machine. Only the ratios are meaningful.
 * `--only NAME,…` runs some rows. `--against REV` compares this checkout with another revision instead.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareRevisions, comparisons } from './compare-revisions.ts';
import { pinToClientCore } from './processes.ts';
import { compareAccess } from './rows/access.ts';
import { compareBroadcast } from './rows/broadcast.ts';
import { measureEncryption } from './rows/encryption.ts';
import { compareFiles } from './rows/files.ts';
import { measureFirstView } from './rows/first-view.ts';
import { measureIdle } from './rows/idle.ts';
import { measurePage } from './rows/page.ts';
import { compareTwoNodes, compareWithRedis } from './rows/redis.ts';
import { compareReading, compareReplacing, compareWriting } from './rows/requests.ts';
import { compareManyOnRedis, compareManyOnSqlite } from './rows/rooms.ts';
import { compareIdleMemory, compareStart } from './rows/start.ts';
import { measureEdits, measureTypists, measureWatchers, measureWire } from './rows/text.ts';
import { repositoryRoot } from './servers.ts';
import { formatRow, type Row, tableHead } from './table.ts';

const rows: Record<string, () => Promise<Row[]>> = {
  read: compareReading,
  access: compareAccess,
  write: compareWriting,
  replace: compareReplacing,
  wire: measureWire,
  edits: measureEdits,
  typists: measureTypists,
  watchers: measureWatchers,
  'first-view': measureFirstView,
  page: measurePage,
  encryption: measureEncryption,
  files: compareFiles,
  broadcast: compareBroadcast,
  idle: measureIdle,
  rooms: compareManyOnSqlite,
  'redis-rooms': compareManyOnRedis,
  redis: compareWithRedis,
  'two-nodes': compareTwoNodes,
  start: compareStart,
  rest: compareIdleMemory,
};

const { values } = parseArgs({ options: { only: { type: 'string' }, against: { type: 'string' } } });
const known = Object.keys(values.against ? comparisons : rows);
const names = values.only?.split(',') ?? known;
const unknown = names.find((name) => !known.includes(name));
if (unknown) fail(`Unknown row "${unknown}". Rows: ${known.join(', ')}.`);
for (const program of ['wrk', 'taskset']) assertInstalled(program);
// Clients in this process must not use the core of the servers.
pinToClientCore();

execFileSync(process.execPath, [join(repositoryRoot, 'scripts/build.ts')], { cwd: repositoryRoot });
console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString()}`);
if (values.against) await compareRevisions(values.against, names);
else await measure();

async function measure(): Promise<void> {
  console.log(`\n${tableHead}`);
  for (const name of names) {
    for (const row of (await rows[name]?.()) ?? []) {
      console.log(formatRow(row));
      if (!row.isMet) process.exitCode = 1;
    }
  }
}

function assertInstalled(program: string): void {
  try {
    execFileSync('which', [program]);
  } catch {
    fail(`The benchmark needs ${program}; on Debian: apt-get install wrk util-linux`);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
