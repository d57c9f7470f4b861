/** `npm run bench`: Poproom against a bare node:http server, in one run on one machine. Only ratios mean something. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, type Figures } from './load.ts';
import { firstAnswer, median, runOn, serverCore, startOn, stop } from './processes.ts';

const root = new URL('..', import.meta.url).pathname;
const node = process.execPath;
const poproomPort = 18_080;
const barePort = 18_081;
const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
const settings = {
  PORT: String(poproomPort),
  POPROOM_HOST: '127.0.0.1',
  POPROOM_DATA_DIR: folder,
  // Counted like any other limit, but never reached.
  POPROOM_FREE_LIMIT: '1000000000',
};
const poproom = [node, join(root, 'bin/poproom.js'), 'serve'];

needs('wrk');
needs('taskset');
execFileSync(node, [join(root, 'scripts/build.ts')]);

try {
  const start = await compareStart();
  const [read, write] = await compareRequests();
  console.log(
    `\n${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`,
  );
  console.log('| | bare node:http | Poproom | ratio | wanted |\n|---|---|---|---|---|');
  printLoad('reading the text, 64 connections', read, 0.55);
  printLoad('durable writes, 64 connections', write, 0.35);
  const times = start.poproom / start.empty;
  console.log(
    `| start to first healthy answer | ${start.empty.toFixed(0)} ms (empty program) | ${start.poproom.toFixed(0)} ms | ${times.toFixed(2)} × | < 3 × |`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function needs(program: string): void {
  try {
    execFileSync('which', [program]);
  } catch {
    console.error(`The benchmark needs ${program}; on Debian: apt-get install wrk util-linux`);
    process.exit(1);
  }
}

/** From the moment the process is started; the caches of Node and of the disk are warm, as after any first start. */
async function compareStart(): Promise<{ empty: number; poproom: number }> {
  const empty = join(folder, 'empty.js');
  writeFileSync(empty, '');
  const figures = { empty: [] as number[], poproom: [] as number[] };
  for (let round = 0; round < 20; round++) {
    figures.empty.push(timed(() => runOn(serverCore, [node, empty])));
    figures.poproom.push(await timedStart());
  }
  return { empty: median(figures.empty), poproom: median(figures.poproom.slice(2)) };
}

function timed(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

async function timedStart(): Promise<number> {
  const startedAt = performance.now();
  const server = startOn(serverCore, poproom, settings);
  const status = await firstAnswer(poproomPort, '/api/health');
  const took = performance.now() - startedAt;
  if (!status.includes('200')) throw new Error(`The first answer was: ${status}`);
  await firstAnswer(poproomPort, '/readyz');
  await stop(server);
  return took;
}

async function compareRequests(): Promise<[Figures[], Figures[]]> {
  const bare = startOn(serverCore, [node, join(root, 'bench/bare-server.ts'), String(barePort)]);
  const server = startOn(serverCore, poproom, settings);
  try {
    await Promise.all([firstAnswer(barePort, '/'), firstAnswer(poproomPort, '/api/health')]);
    const rooms = await makeRooms(64);
    const paths = rooms.map((room) => `/api/rooms/${room}/content`);
    const body = JSON.stringify({ content: 'x'.repeat(100) });
    const targets = [
      { name: 'bare node:http', process: bare, port: barePort, paths: ['/'] },
      { name: 'Poproom', process: server, port: poproomPort, paths },
    ];
    const write = compare(targets.map((target) => ({ ...target, body })));
    return [compare(targets), write];
  } finally {
    await Promise.all([stop(bare), stop(server)]);
  }
}

async function makeRooms(count: number): Promise<string[]> {
  const codes: string[] = [];
  for (let i = 0; i < count; i++) {
    const response = await fetch(`http://127.0.0.1:${poproomPort}/api/rooms`, { method: 'POST' });
    codes.push(((await response.json()) as { roomId: string }).roomId);
  }
  return codes;
}

function printLoad(what: string, [bare, own]: Figures[], wanted: number): void {
  if (!bare || !own) return;
  const show = ({ perSecond, cpuMicros }: Figures) => `${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs CPU`;
  console.log(
    `| ${what} | ${show(bare)} | ${show(own)} | ${(own.perSecond / bare.perSecond).toFixed(2)} | ≥ ${wanted} |`,
  );
}
