/** Requests per second and CPU per request, measured with wrk, which uses less CPU than the servers. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientCore, cpuOf, median, runOn } from './processes.ts';

export interface Target {
  name: string;
  process: ChildProcess;
  port: number;
  paths: string[];
  headers?: Record<string, string>;
  /** If set, requests use POST, with these bodies in turn. */
  bodies?: readonly string[];
  connections?: number;
}

export interface LoadResult {
  name: string;
  perSecond: number;
  cpuMicros: number;
}

const seconds = 3;
/** On a busy machine, V8 optimizes for longer than ten seconds. */
const warmUpSeconds = 16;

export interface LoadRounds {
  name: string;
  perSecond: number[];
  /** Microseconds per request. */
  cpu: number[];
}

export function compare(targets: Target[]): LoadResult[] {
  return compareRounds(targets, 5).map(({ name, perSecond, cpu }) => {
    return { name, perSecond: median(perSecond), cpuMicros: median(cpu) };
  });
}

/** Alternates, so that other load on the machine affects all of them. */
export function compareRounds(targets: Target[], rounds: number): LoadRounds[] {
  const runs = targets.map((target) => ({
    target,
    script: scriptFor(target),
    perSecond: [] as number[],
    cpu: [] as number[],
  }));
  // Until V8 has optimized the code, which counts as CPU time of the server.
  for (const { target, script } of runs) runWrk(target, script, warmUpSeconds);
  for (let round = 0; round < rounds; round++) {
    for (const { target, script, ...results } of runs) {
      const before = cpuOf(target.process);
      const { requests, perSecond } = runWrk(target, script, seconds);
      results.perSecond.push(perSecond);
      results.cpu.push((cpuOf(target.process) - before) / requests);
    }
  }
  return runs.map(({ target: { name }, perSecond, cpu }) => ({ name, perSecond, cpu }));
}

function runWrk(
  { port, connections = 64 }: Target,
  script: string,
  duration: number,
): { requests: number; perSecond: number } {
  const url = `http://127.0.0.1:${port}`;
  const output = runOn(clientCore, [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${duration}s`,
    '--timeout',
    '30s',
    '-s',
    script,
    url,
  ]);
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`The load caused errors:\n${output}`);
  return {
    requests: Number(/(\d+) requests in/.exec(output)?.[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
  };
}

/** Each room receives all bodies in turn, and the rooms alternate. */
function scriptFor({ paths, bodies, headers = {} }: Target): string {
  const file = join(mkdtempSync(join(tmpdir(), 'poproom-bench-')), 'requests.lua');
  const method = bodies === undefined ? 'GET' : 'POST';
  const named = Object.entries(headers).map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  const lua = `
    local requests = {}
    local next = 0
    function init()
      for _, body in ipairs({${bodies?.map((body) => `[==[${body}]==]`).join(', ') ?? 'false'}}) do
        for _, path in ipairs({${paths.map((path) => JSON.stringify(path)).join(', ')}}) do
          table.insert(requests, wrk.format("${method}", path, {${named.join(', ')}}, body or nil))
        end
      end
    end
    function request()
      next = next % #requests + 1
      return requests[next]
    end
  `;
  writeFileSync(file, lua);
  return file;
}
