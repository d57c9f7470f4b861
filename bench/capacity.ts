/**
 * `npm run capacity`: what one node bears on each engine, as a client sees it.
 *
 * - `sweep`: 100,000 rooms expire together. Reads of other rooms take at most twice as long as before (p99).
 * - `herd`: the server is killed with 10,000 live channels, and started again. All are back within 15 seconds, and
 *   meanwhile reads take less than 250 ms (p99).
 *
 * `--engine sqlite` or `redis`, `--only sweep` or `herd`, `--rooms N` and `--channels N` run less.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '@redis/client';
import { createKeys } from '../src/store/redis/keys.ts';
import { freePort } from '../test/support/listen.ts';
import { startRedis } from '../test/support/redis.ts';
import { openHerd } from './herd.ts';
import { type ProbedRead, p99Of, startProbe } from './latency-probe.ts';
import { pinToClientCore } from './processes.ts';
import { repositoryRoot, type Server, startPoproom } from './servers.ts';
import { drawCodes, fillRedis, fillSqlite } from './stores.ts';
import { atMost, formatRow, type Row, tableHead } from './table.ts';

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite,redis' },
    only: { type: 'string', default: 'sweep,herd' },
    rooms: { type: 'string', default: '100000' },
    channels: { type: 'string', default: '10000' },
  },
});
const [sweptRooms, channels] = [Number(values.rooms), Number(values.channels)];
const otherRooms = 1_000;
const readsPerSecond = 50;
/** Connections of the server besides the channels, and its files. */
const otherDescriptors = 500;

interface Engine {
  settings: Record<string, string>;
  fill(codes: ReturnType<typeof drawCodes>, expiresAt?: number): Promise<void>;
  /** How many rooms that expire by then are not removed yet. */
  countExpired(expiresAt: number): Promise<number>;
  stop(): Promise<void>;
}

const engines: Record<string, () => Promise<Engine>> = { sqlite: onSqlite, redis: onRedis };
const measurements: Record<string, (name: string, engine: Engine) => Promise<Row[]>> = {
  sweep: measureSweep,
  herd: measureHerd,
};

for (const program of ['taskset']) if (availableParallelism() > 1) assertInstalled(program);
if (values.only.includes('herd')) assertDescriptors();
pinToClientCore();
execFileSync(process.execPath, [join(repositoryRoot, 'scripts/build.ts')], { cwd: repositoryRoot });
console.log(tableHead);
for (const name of values.engine.split(',')) {
  for (const measurement of values.only.split(',')) {
    const [open, measure] = [engines[name], measurements[measurement]];
    if (!open || !measure) fail(`Engines: ${Object.keys(engines)}. Measurements: ${Object.keys(measurements)}.`);
    const engine = await open();
    try {
      for (const row of await measure(name, engine)) {
        console.log(formatRow(row));
        if (!row.isMet) process.exitCode = 1;
      }
    } finally {
      await engine.stop();
    }
  }
}
console.log(`\nLoad average at the end: ${loadavg().map((load) => load.toFixed(1))}.`);
process.exit();

async function measureSweep(name: string, engine: Engine): Promise<Row[]> {
  const { server, probe } = await startProbed(engine);
  try {
    const expiresAt = Date.now() + 25_000 + Math.round(sweptRooms / 3);
    await engine.fill(drawCodes(sweptRooms), expiresAt);
    await pause(5_000);
    await probe.take();
    await pause(expiresAt - Date.now());
    const calm = await probe.take();
    while ((await engine.countExpired(expiresAt)) === sweptRooms) await pause(100);
    await probe.take();
    const sweptAt = Date.now();
    while ((await engine.countExpired(expiresAt)) > 0) await pause(250);
    const seconds = (Date.now() - sweptAt) / 1000;
    const swept = await probe.take();
    const work = `${name}: reads while ${count(sweptRooms)} expired rooms are removed in ${seconds.toFixed(0)} s, p99`;
    const ratio = atMost(p99Of(swept) / p99Of(calm), 2);
    return [
      { work, baseline: `before: ${ms(p99Of(calm))}`, poproom: ms(p99Of(swept)), ...withoutErrors(ratio, swept) },
    ];
  } finally {
    await probe.stop();
    await server.stop();
  }
}

async function measureHerd(name: string, engine: Engine): Promise<Row[]> {
  const { server, probe, port } = await startProbed(engine);
  let running: Server = server;
  const rooms = drawCodes(Math.ceil(channels / 5));
  await engine.fill(rooms);
  const herd = openHerd(port, rooms, channels);
  try {
    await herd.joined();
    await herd.hinted();
    await probe.take();
    await pause(5_000);
    const calm = await probe.take();
    const killedAt = Date.now();
    const ended = once(server.process, 'exit');
    server.process.kill('SIGKILL');
    await ended;
    running = await startPoproom({ port, settings: engine.settings });
    const startedAt = Date.now();
    const downFor = (startedAt - killedAt) / 1000;
    await herd.joined();
    const seconds = (Date.now() - killedAt) / 1000;
    const reads = (await probe.take()).filter(({ at, ms }) => at - ms >= startedAt);
    const of = `${name}: ${count(channels)} channels after a kill`;
    const p99 = p99Of(reads);
    const back = {
      work: `${of}, all back`,
      poproom: `${seconds.toFixed(1)} s (it responds after ${downFor.toFixed(1)} s)`,
      bound: '≤ 15 s',
      isMet: seconds <= 15,
    };
    const http = { work: `${of}, reads meanwhile, p99`, poproom: ms(p99), bound: '< 250 ms', isMet: p99 < 250 };
    const none = { baseline: '—', ratio: '—' };
    return [
      { ...none, ...back },
      { ...none, ...withoutErrors(http, reads), baseline: `before: ${ms(p99Of(calm))}` },
    ];
  } finally {
    herd.close();
    await probe.stop();
    await running.stop();
  }
}

async function startProbed(engine: Engine) {
  const port = await freePort();
  const codes = drawCodes(otherRooms);
  // The first start creates the tables.
  await (await startPoproom({ port, settings: engine.settings })).stop();
  await engine.fill(codes);
  const server = await startPoproom({ port, settings: engine.settings });
  const paths = codes.map((code) => `/api/rooms/${code}/content`);
  return { server, port, probe: startProbe({ port, paths, perSecond: readsPerSecond }) };
}

async function onSqlite(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const file = join(folder, 'poproom.db');
  return {
    settings: { POPROOM_DATA_DIR: folder },
    async fill(codes, expiresAt) {
      for (let at = 0; at < codes.length; at += 1_000) {
        fillSqlite(file, codes.slice(at, at + 1_000), expiresAt);
        await pause(5);
      }
    },
    async countExpired(expiresAt) {
      const db = new DatabaseSync(file, { readOnly: true, timeout: 30_000 });
      const row = db.prepare('SELECT count(*) AS n FROM rooms WHERE expires_at <= ?').get(expiresAt);
      db.close();
      return Number(row?.n);
    },
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function onRedis(): Promise<Engine> {
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'everysec']);
  const client = createClient({ url: redis.url });
  await client.connect();
  const { rooms, ending } = createKeys('pop');
  return {
    settings: { POPROOM_STORE: redis.url, POPROOM_SECRET: 'a secret of the benchmark' },
    fill: (codes, expiresAt) => fillRedis(redis.url, codes, expiresAt),
    async countExpired(expiresAt) {
      return (await client.zCount(rooms, '-inf', expiresAt)) + (await client.zCard(ending));
    },
    async stop() {
      client.destroy();
      await redis.stop();
    },
  };
}

/** A failed read is not a fast one. */
function withoutErrors<T extends { isMet: boolean; poproom?: string }>(row: T, reads: readonly ProbedRead[]): T {
  const failed = reads.filter(({ isOk }) => !isOk).length;
  if (failed > 0) console.error(`${failed} of ${reads.length} reads failed.`);
  return { ...row, isMet: row.isMet && failed === 0 && reads.length > 0 };
}

function assertDescriptors(): void {
  const limit = Number(/Max open files\s+\d+\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  const needed = channels + otherDescriptors;
  if (limit >= needed) return;
  fail(
    `${count(channels)} channels need ${needed} open files, and this user may open ${limit}. ` +
      `Raise the hard limit (ulimit -Hn, or LimitNOFILE), or use --channels ${Math.max(1, limit - otherDescriptors)}.`,
  );
}

function assertInstalled(program: string): void {
  try {
    execFileSync('which', [program]);
  } catch {
    fail(`The measurement needs ${program}; on Debian: apt-get install util-linux`);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
