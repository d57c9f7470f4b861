/**
 * A node on Redis compared with the embedded engine, and two nodes with one. On a machine with few cores, the nodes share
 * a core, so requests per second say little. The CPU per request of each process allows an estimate for separate
 * machines, up to the limit of Redis, which uses one core.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RedisServer, startRedis } from '../../test/support/redis.ts';
import { compareRounds, type LoadRounds } from '../load.ts';
import { firstResponse, median, stop } from '../processes.ts';
import { createRooms, limits, poproomCommand, type Server, startPoproom } from '../servers.ts';
import { atMost, type Row } from '../table.ts';
import { bodiesOf, contentPaths, targetOf, unrelatedTexts } from './requests.ts';

const rounds = 5;
const seconds = 3;
const connectionsPerNode = 64;
const cores = availableParallelism();
/** One core each for two nodes, Redis and the load generator. */
const hasCoreForEach = cores >= 4;
const run = promisify(execFile);

/** A read may take 42 µs of CPU on Redis if it takes 19 on SQLite. */
const maxReadRatio = 2.2;
const secret = { POPROOM_SECRET: 'a secret of the benchmark' };

export async function compareWithRedis(): Promise<Row[]> {
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'everysec']);
  const embedded = await startPoproom({ port: 18_080 });
  const node = await startPoproom({ port: 18_081, settings: { POPROOM_STORE: redis.url, ...secret } });
  try {
    const reads = await compareCpu([embedded, node]);
    const writes = await compareCpu([embedded, node], bodiesOf(unrelatedTexts(1000)));
    return [
      { work: 'reading the text on a node on Redis, CPU', ...reads, ...atMost(reads.value, maxReadRatio) },
      { work: 'another text of 1 KB on a node on Redis, CPU', ...writes, ratio: `${writes.value.toFixed(2)} ×` },
    ];
  } finally {
    await Promise.all([embedded.stop(), node.stop()]);
    await redis.stop();
  }
}

async function compareCpu(servers: Server[], bodies?: string[]) {
  const targets = await Promise.all(
    servers.map(async (server) => targetOf('', server, await contentPaths(server, 64), bodies)),
  );
  const [theirs, own] = compareRounds(targets, rounds) as [LoadRounds, LoadRounds];
  const show = ({ cpu }: LoadRounds) => `${median(cpu).toFixed(0)} µs`;
  const value = median(own.cpu.map((micros, round) => micros / (theirs.cpu[round] ?? Number.NaN)));
  return { value, baseline: `SQLite: ${show(theirs)}`, poproom: show(own), bound: '—', isMet: true };
}

interface Node {
  port: number;
  process: ReturnType<typeof spawn>;
}

/** CPU per request in microseconds, except `perSecond`. */
interface Costs {
  perSecond: number;
  nodes: number;
  redis: number;
  load: number;
}

export async function compareTwoNodes(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'everysec']);
  if (hasCoreForEach) execFileSync('taskset', ['-cp', '2', String(redis.pid)], { stdio: 'ignore' });
  const nodes = [0, 1].map((core) =>
    startNode(core, { POPROOM_STORE: redis.url, POPROOM_DATA_DIR: join(folder, `${core}`) }),
  );
  try {
    await Promise.all(nodes.map(({ port }) => firstResponse(port, '/api/health')));
    const codes = await createRooms({ url: `http://127.0.0.1:${nodes[0]?.port}` }, 64);
    const script = join(folder, 'requests.lua');
    writeFileSync(script, readScript(codes));
    const [one, two] = await measureAlternately(nodes, redis, script);
    return [rowOf(one, two)];
  } finally {
    await Promise.all(nodes.map(({ process }) => stop(process)));
    await redis.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The processes share the cores with the load generator, so there is no bound. */
function rowOf(one: Costs, two: Costs): Row {
  const show = ({ perSecond, nodes, redis, load }: Costs) =>
    `${perSecond.toFixed(0)}/s; CPU of a node ${nodes.toFixed(0)} µs, of Redis ${redis.toFixed(0)} µs, of the load ${load.toFixed(0)} µs`;
  return {
    work: `reading on two nodes on one Redis, all on ${cores} cores`,
    baseline: `one node: ${show(one)}`,
    poproom: show(two),
    ratio: (two.perSecond / one.perSecond).toFixed(2),
    bound: '—',
    isMet: true,
  };
}

/** A wrk script that reads the rooms in turn. */
const readScript = (codes: readonly string[]) => `
  local codes = {"${codes.join('", "')}"}
  local next = 0
  function request()
    next = next % #codes + 1
    return wrk.format("GET", "/api/rooms/" .. codes[next] .. "/content")
  end
`;

function startNode(core: number, settings: Record<string, string>): Node {
  const port = 18_080 + core;
  const env = { ...process.env, ...limits, ...secret, ...settings, POPROOM_HOST: '127.0.0.1', PORT: String(port) };
  const pinned = hasCoreForEach ? ['taskset', '-c', String(core)] : [];
  const [program = '', ...args] = [...pinned, ...poproomCommand()];
  return { port, process: spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env }) };
}

/** Alternates, so that other load on the machine affects both. */
async function measureAlternately(nodes: Node[], redis: RedisServer, script: string): Promise<[Costs, Costs]> {
  const variants = [nodes.slice(0, 1), nodes].map((some) => ({ some, measured: [] as Costs[] }));
  for (const { some } of variants) await measure(some, redis, script, 1);
  for (let round = 0; round < rounds; round++) {
    for (const { some, measured } of variants) measured.push(await measure(some, redis, script, seconds));
  }
  return variants.map(({ measured }) => medianOf(measured)) as [Costs, Costs];
}

async function measure(nodes: Node[], redis: RedisServer, script: string, duration: number): Promise<Costs> {
  const used = () => ({
    nodes: nodes.reduce((sum, { process }) => sum + cpuMicros(process.pid, 11), 0),
    redis: cpuMicros(redis.pid, 11),
    // The CPU of children that have exited. During the load, only wrk exits.
    load: cpuMicros('self', 13),
  });
  const before = used();
  const loads = await Promise.all(nodes.map(({ port }) => load(port, script, duration)));
  const after = used();
  const requests = loads.reduce((sum, { requests }) => sum + requests, 0);
  return {
    perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
    nodes: (after.nodes - before.nodes) / requests,
    redis: (after.redis - before.redis) / requests,
    load: (after.load - before.load) / requests,
  };
}

async function load(port: number, script: string, duration: number) {
  const pinned = hasCoreForEach ? ['taskset', '-c', '3'] : [];
  const wrk = ['wrk', '-t1', `-c${connectionsPerNode}`, `-d${duration}s`, '-s', script, `http://127.0.0.1:${port}`];
  const [program = '', ...args] = [...pinned, ...wrk];
  const { stdout } = await run(program, args);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`The load caused errors:\n${stdout}`);
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
  };
}

/** User and system time. `field` is the index of the first in /proc/PID/stat. */
function cpuMicros(pid: number | string | undefined, field: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[field]) + Number(fields[field + 1])) * 10_000;
}

function medianOf(measured: Costs[]): Costs {
  const of = (name: keyof Costs) => median(measured.map((costs) => costs[name]));
  return { perSecond: of('perSecond'), nodes: of('nodes'), redis: of('redis'), load: of('load') };
}
