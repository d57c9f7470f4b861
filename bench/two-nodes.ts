/**
 * Compares two nodes with one, on one Redis. On a machine with few cores, the nodes share a core, so requests per second
 * say little. The CPU per request of each process allows an estimate for separate machines, up to the limit of Redis,
 * which uses one core.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisServer } from '../test/support/redis.ts';
import { firstResponse, median, stop } from './processes.ts';

const rounds = 5;
const seconds = 3;
const connectionsPerNode = 64;
const cores = availableParallelism();
/** One core each for two nodes, Redis and the load generator. */
const hasCoreForEach = cores >= 4;
const run = promisify(execFile);

export interface TwoNodesOptions {
  command: string[];
  /** The settings of each node. */
  settings: Record<string, string>[];
  redis: RedisServer;
  makeRoom: (port: number) => Promise<string>;
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

export async function compareTwoNodes({ command, settings, redis, makeRoom }: TwoNodesOptions): Promise<void> {
  if (hasCoreForEach) execFileSync('taskset', ['-cp', '2', String(redis.pid)], { stdio: 'ignore' });
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const nodes = settings.map((env, i) => startNode(i, command, env));
  try {
    await Promise.all(nodes.map(({ port }) => firstResponse(port, '/api/health')));
    const codes = await Promise.all(Array.from({ length: 64 }, () => makeRoom((nodes[0] as Node).port)));
    const script = join(folder, 'requests.lua');
    writeFileSync(script, readScript(codes));
    const [one, two] = await measureAlternately(nodes, redis, script);
    print(one, two);
  } finally {
    await Promise.all(nodes.map(({ process }) => stop(process)));
    rmSync(folder, { recursive: true });
  }
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

function startNode(core: number, [program = '', ...args]: string[], env: Record<string, string>): Node {
  const pinned = hasCoreForEach ? ['taskset', '-c', String(core)] : [];
  const [first = '', ...rest] = [...pinned, program, ...args];
  const child = spawn(first, rest, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } });
  return { port: Number(env.PORT), process: child };
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

function print(one: Costs, two: Costs): void {
  const rounded = (value: number) => value.toFixed(0);
  const row = (label: string, of: (costs: Costs) => number) =>
    console.log(`| ${label} | ${rounded(of(one))} | ${rounded(of(two))} | ${(of(two) / of(one)).toFixed(2)} |`);
  console.log(
    '\n| reading the text, 64 connections per node, one Redis | one node | two nodes | ratio |\n|---|---|---|---|',
  );
  row(`requests per second, all on ${cores} cores`, ({ perSecond }) => perSecond);
  row('µs of CPU per request: nodes', ({ nodes }) => nodes);
  row('µs of CPU per request: Redis', ({ redis }) => redis);
  row('µs of CPU per request: load generator', ({ load }) => load);
  row('requests per second, with a core for each process', (costs) => projected(costs, costs === one ? 1 : 2));
  console.log(`\n${machineLimit(two)}\n${estimateWithoutSharing(one, two)}\n${redisLimit(two)}`);
}

/** Limited by the cores of the nodes or of Redis. */
const projected = ({ nodes, redis }: Costs, count: number) => Math.min((count * 1e6) / nodes, 1e6 / redis);

function machineLimit({ nodes, redis, load }: Costs): string {
  const all = nodes + redis + load;
  const max = (cores * 1e6) / all;
  if (hasCoreForEach) return `With ${cores} cores, each process had its own.`;
  return (
    `The ${cores} cores are the limit: a request costs ${all.toFixed(0)} µs over all processes, so the maximum is ` +
    `${max.toFixed(0)} requests per second; ${((100 * load) / all).toFixed(0)} % of the CPU is the load generator.`
  );
}

/** On a shared core, two nodes cost more per request than one. On separate machines, they would not. */
function estimateWithoutSharing(one: Costs, two: Costs): string {
  const alone = projected({ ...two, nodes: one.nodes }, 2) / projected(one, 1);
  return `If each node costs as much as one alone, two nodes handle ${alone.toFixed(2)} times the requests of one.`;
}

function redisLimit({ nodes, redis }: Costs): string {
  return `One Redis serves up to ${(nodes / redis).toFixed(1)} nodes (${(1e6 / redis).toFixed(0)} requests per second); more need a cluster.`;
}
