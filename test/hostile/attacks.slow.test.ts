/** Attacks on memory and CPU, while another client is served. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { watchDelay } from '../support/cpu-time.ts';
import { eventually } from '../support/eventually.ts';
import { type Cleanup, createSuiteCleanup, dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { openHandles, residentMemory } from '../support/process-stats.ts';
import { isLongRun } from './long-run.ts';
import { openGarbageCollector } from './memory.ts';

/** The long form attacks at ten times the size. Only there are times compared: short of that, machines are too busy. */
const scale = isLongRun ? 10 : 1;
/** An attack goes on until another client has received this many answers. */
const minAnswers = isLongRun ? 200 : 100;
const maxGrowthMiB = 150;
/** V8 keeps some of it, and uses it again. */
const maxRestMiB = 100;
const attacker = fileURLToPath(new URL('attacks/attacker.ts', import.meta.url));
const patience = { timeout: 300_000 };

describe('an attack on memory or time', () => {
  let target: Target;
  const suite = createSuiteCleanup();
  before(async () => {
    target = await startTarget(suite);
  });
  after(suite.end);

  for (const name of [
    'pipelined pages',
    'pipelined files',
    'unread texts',
    'nested bodies',
    'nested messages',
    'withheld bodies',
    'unfinished messages',
    'large writes',
    'unrelated texts',
    'old edits',
    'old edits on ten channels',
    'old edits in many rooms',
    'old edits over HTTP',
    'old edits of many ranges',
    'escaped texts',
  ]) {
    it(
      `[SAFE-1] [SAFE-8] [SAFE-9] by ${name} does not stop the server or affect others, and leaves nothing behind`,
      patience,
      async (t) => {
        await withstand(t, target, name);
      },
    );
  }
});

interface Target {
  server: ServerProcess;
  room: string;
  file: string;
  bystander: Bystander;
  collectGarbage: () => Promise<void>;
  /** The memory of the server before the first attack: what attacks leave behind adds up. */
  memoryAtRest: number;
}

async function startTarget(suite: Cleanup): Promise<Target> {
  const server = await startProcess(suite, await dataFolder(suite), {
    NODE_OPTIONS: '--max-old-space-size=256 --inspect=127.0.0.1:0',
    POPROOM_FREE_LIMIT: '1000000',
    POPROOM_WORK_LIMIT: '6000',
    MALLOC_ARENA_MAX: '2',
  });
  const { room, file } = await furnish(server);
  const bystander = await openBystander(suite, server);
  await bystander.ask(50);
  const collectGarbage = await openGarbageCollector(suite, server);
  await collectGarbage();
  return { server, room, file, bystander, collectGarbage, memoryAtRest: await residentMemory(server.pid) };
}

async function withstand(t: TestContext, target: Target, name: string): Promise<void> {
  const { server, bystander, collectGarbage, memoryAtRest } = target;
  const before = await residentMemory(server.pid);
  const child = spawn(
    process.execPath,
    [attacker, name, String(server.port), target.room, target.file, String(scale)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  t.after(() => child.kill('SIGKILL'));
  let largest = before;
  let handles = 0;
  const isReady = once(child.stdout, 'data').then(() => true);
  const times: number[] = [];
  const delay = watchDelay();
  do {
    times.push(...(await bystander.ask(20)));
    largest = Math.max(largest, await residentMemory(server.pid));
    handles = Math.max(handles, (await openHandles(server.pid)).filter((path) => path.includes('/blobs/')).length);
  } while (!(await Promise.race([isReady, pause(0, false)])) || times.length < minAnswers);
  const { max: delayMs } = delay();
  const figures = `${figuresOf(times)}, delayed by up to ${delayMs.toFixed(0)} ms`;
  t.diagnostic(`${figures}; ${before.toFixed(0)} to ${largest.toFixed(0)} MiB`);
  assert.ok(isServed(times, delayMs), figures);
  assert.ok(largest - before <= maxGrowthMiB, `the memory grew from ${before.toFixed(0)} to ${largest.toFixed(0)} MiB`);
  assert.ok(handles <= 100 * scale, `${handles} files were open`);

  child.kill('SIGKILL');
  await bystander.ask(20);
  await eventually(
    'the memory is back at rest',
    async () => {
      await collectGarbage();
      return (await residentMemory(server.pid)) <= memoryAtRest + maxRestMiB;
    },
    isLongRun ? 10_000 : 30_000,
  );
}

function isServed(times: number[], delayMs: number): boolean {
  const [p50, p99] = isLongRun ? [60, 250] : [500, 2000 + 4 * delayMs];
  return percentile(times, 0.5) < p50 && percentile(times, 0.99) < p99;
}

function figuresOf(times: number[]): string {
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  return `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${times.length} answers`;
}

function percentile(times: number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(part * (sorted.length - 1))] ?? Number.POSITIVE_INFINITY;
}

async function furnish({ api, url }: ServerProcess): Promise<{ room: string; file: string }> {
  const room = await api.room();
  const content = '\u0001'.repeat(1024 * 1024);
  await api.post(`/api/rooms/${room}/content`, { json: { content } });
  const response = await fetch(`${url}/api/rooms/${room}/upload?fileName=large.bin`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: Buffer.alloc(4 * 1024 * 1024, 'x'),
  });
  const { fileUrl } = (await response.json()) as { fileUrl: string };
  return { room, file: new URL(fileUrl).pathname };
}

type Bystander = Awaited<ReturnType<typeof openBystander>>;

/** Reads and writes a room of its own, one request after the other. */
async function openBystander(suite: Cleanup, { api, port }: ServerProcess) {
  const room = await api.room();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  suite.after(() => agent.destroy());
  const path = `/api/rooms/${room}/content`;

  function exchange(n: number): Promise<number> {
    const startedAt = performance.now();
    const body = n % 2 ? JSON.stringify({ content: `text ${n}` }) : undefined;
    const headers = body ? { 'Content-Type': 'application/json', 'Content-Length': body.length } : {};
    return new Promise((resolve, reject) => {
      const sent = request({ agent, port, path, method: body ? 'POST' : 'GET', headers }, (response) => {
        assert.equal(response.statusCode, 200);
        response.resume().on('end', () => resolve(performance.now() - startedAt));
      });
      sent.on('error', reject).end(body);
    });
  }

  return {
    async ask(count: number): Promise<number[]> {
      const times: number[] = [];
      for (let n = 0; n < count; n++) {
        times.push(await exchange(n));
        await pause(5);
      }
      return times;
    },
  };
}
