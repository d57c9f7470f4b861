/**
 * Two nodes against one, over one Redis. On a machine with few cores the second node has no core of its own, and the
 * requests a second show little of what it is worth; what a request costs each process shows it. From that follows what
 * the nodes would reach on machines of their own, until the one Redis, which works on one core, has no more to give.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisServer } from '../test/support/redis.ts';
import { firstAnswer, median, stop } from './processes.ts';

const rounds = 5;
const seconds = 3;
const connectionsPerNode = 64;
const cores = availableParallelism();
/** Two nodes, Redis, the load: with a core for each, none is in the way of another. */
const isRoomy = cores >= 4;
const run = promisify(execFile);

export interface Plan {
  command: string[];
  /** Of the nodes that go with it, one by one. */
  settings: Record<string, string>[];
  redis: RedisServer;
  makeRoom: (port: number) => Promise<string>;
}

interface Node {
  port: number;
  process: ReturnType<typeof spawn>;
}

/** All in microseconds of CPU a request, but for the first. */
interface Costs {
  perSecond: number;
  nodes: number;
  redis: number;
  load: number;
}

export async function compareTwoNodes({ command, settings, redis, makeRoom }: Plan): Promise<void> {
  if (isRoomy) execFileSync('taskset', ['-cp', '2', String(redis.pid)], { stdio: 'ignore' });
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const nodes = settings.map((env, i) => startNode(i, command, env));
  try {
    await Promise.all(nodes.map(({ port }) => firstAnswer(port, '/api/health')));
    const codes = await Promise.all(Array.from({ length: 64 }, () => makeRoom((nodes[0] as Node).port)));
    const script = join(folder, 'requests.lua');
    writeFileSync(script, readingInTurn(codes));
    const [one, two] = await inTurns(nodes, redis, script);
    print(one, two);
  } finally {
    await Promise.all(nodes.map(({ process }) => stop(process)));
    rmSync(folder, { recursive: true });
  }
}

/** For wrk. */
const readingInTurn = (codes: readonly string[]) => `
  local codes = {"${codes.join('", "')}"}
  local next = 0
  function request()
    next = next % #codes + 1
    return wrk.format("GET", "/api/rooms/" .. codes[next] .. "/content")
  end
`;

function startNode(core: number, [program = '', ...args]: string[], env: Record<string, string>): Node {
  const pinned = isRoomy ? ['taskset', '-c', String(core)] : [];
  const [first = '', ...rest] = [...pinned, program, ...args];
  const child = spawn(first, rest, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } });
  return { port: Number(env.PORT), process: child };
}

/** So that a busy moment of the machine hits both. */
async function inTurns(nodes: Node[], redis: RedisServer, script: string): Promise<[Costs, Costs]> {
  const sides = [nodes.slice(0, 1), nodes].map((some) => ({ some, measured: [] as Costs[] }));
  for (const { some } of sides) await measure(some, redis, script, 1);
  for (let round = 0; round < rounds; round++) {
    for (const { some, measured } of sides) measured.push(await measure(some, redis, script, seconds));
  }
  return sides.map(({ measured }) => medianOf(measured)) as [Costs, Costs];
}

async function measure(nodes: Node[], redis: RedisServer, script: string, duration: number): Promise<Costs> {
  const used = () => ({
    nodes: nodes.reduce((sum, { process }) => sum + cpuMicros(process.pid, 11), 0),
    redis: cpuMicros(redis.pid, 11),
    // Of the children that have ended; while there is load, nothing else ends.
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
  const pinned = isRoomy ? ['taskset', '-c', '3'] : [];
  const wrk = ['wrk', '-t1', `-c${connectionsPerNode}`, `-d${duration}s`, '-s', script, `http://127.0.0.1:${port}`];
  const [program = '', ...args] = [...pinned, ...wrk];
  const { stdout } = await run(program, args);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`The load met errors:\n${stdout}`);
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
  };
}

/** In user and in system mode; `field` is where Linux has the first of the two. */
function cpuMicros(pid: number | string | undefined, field: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[field]) + Number(fields[field + 1])) * 10_000;
}

function medianOf(measured: Costs[]): Costs {
  const of = (name: keyof Costs) => median(measured.map((costs) => costs[name]));
  return { perSecond: of('perSecond'), nodes: of('nodes'), redis: of('redis'), load: of('load') };
}

function print(one: Costs, two: Costs): void {
  const whole = (value: number) => value.toFixed(0);
  const row = (what: string, of: (costs: Costs) => number) =>
    console.log(`| ${what} | ${whole(of(one))} | ${whole(of(two))} | ${(of(two) / of(one)).toFixed(2)} |`);
  console.log(
    '\n| reading the text, 64 connections a node, one Redis | one node | two nodes | ratio |\n|---|---|---|---|',
  );
  row(`requests a second, all on ${cores} cores`, ({ perSecond }) => perSecond);
  row('µs of CPU a request: nodes', ({ nodes }) => nodes);
  row('µs of CPU a request: Redis', ({ redis }) => redis);
  row('µs of CPU a request: load generator', ({ load }) => load);
  row('requests a second, with a core for each process', (costs) => projected(costs, costs === one ? 1 : 2));
  console.log(`\n${limitHere(two)}\n${withoutQuarrel(one, two)}\n${limitOfRedis(two)}`);
}

/** Until the nodes, or the one Redis, have used up their cores. */
const projected = ({ nodes, redis }: Costs, count: number) => Math.min((count * 1e6) / nodes, 1e6 / redis);

function limitHere({ nodes, redis, load }: Costs): string {
  const all = nodes + redis + load;
  const most = (cores * 1e6) / all;
  if (isRoomy) return `With ${cores} cores, each process had one of its own.`;
  return (
    `On ${cores} cores the limit is the machine: a request costs ${all.toFixed(0)} µs over all processes, so that no ` +
    `number of nodes gets past ${most.toFixed(0)} a second here; ${((100 * load) / all).toFixed(0)} % of it is the load generator.`
  );
}

/** What two nodes cost more than one on a core that they share is no cost of theirs on machines of their own. */
function withoutQuarrel(one: Costs, two: Costs): string {
  const alone = projected({ ...two, nodes: one.nodes }, 2) / projected(one, 1);
  return `If a node costs with another beside it what it costs alone, two are worth ${alone.toFixed(2)} of one.`;
}

function limitOfRedis({ nodes, redis }: Costs): string {
  return `One Redis has enough for ${(nodes / redis).toFixed(1)} nodes, at ${(1e6 / redis).toFixed(0)} a second; more want a cluster.`;
}
