/** How fast a written text reaches a hundred devices. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import { connectAll, type JoinOptions, joinAll } from '../devices.ts';
import { cpuOf, median, quantile } from '../processes.ts';
import { createRoom, type Server, startBare, startPoproom } from '../servers.ts';
import { atMost, type Row } from '../table.ts';

const rounds = 5;
const devices = 100;
const writes = 1000;
const maxRatio = 1.5;

export async function compareBroadcast(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const bare = await startBare('broadcast.js', 18_081, join(folder, 'text'));
  const poproom = await startPoproom({ port: 18_080 });
  try {
    const groups = [await bareGroup(bare), await roomGroup(poproom), await roomGroup(poproom, { edits: false })];
    const [theirs, edits, texts] = (await broadcast(groups, rounds)) as [Broadcasts, Broadcasts, Broadcasts];
    return [
      rowOf('from a write to the last of 100 devices, p50', theirs, edits, 'p50'),
      rowOf('from a write to the last of 100 devices, p99', theirs, edits, 'p99'),
      withoutBound(rowOf('the same to devices that receive whole texts, p50', theirs, texts, 'p50')),
    ];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowOf(work: string, theirs: Broadcasts, own: Broadcasts, of: 'p50' | 'p99'): Row {
  const show = (all: Broadcasts) => `${median(all[of]).toFixed(1)} ms, ${median(all.cpu).toFixed(0)} µs CPU`;
  const ratio = median(own[of]) / median(theirs[of]);
  return { work, baseline: `bare ws and one fsync: ${show(theirs)}`, poproom: show(own), ...atMost(ratio, maxRatio) };
}

const withoutBound = (row: Row): Row => ({ ...row, bound: '—', isMet: true });

/** Devices in one room. */
export interface Group {
  server: Server;
  sockets: WebSocket[];
  /** The path for writes of the text. */
  path: string;
  version: number;
}

export interface Broadcasts {
  /** Milliseconds, for each round. */
  p50: number[];
  p99: number[];
  /** Microseconds per write, for each round. */
  cpu: number[];
}

async function bareGroup(server: Server): Promise<Group> {
  return { server, sockets: await connectAll(devices, `ws://127.0.0.1:${server.port}/`), path: '/', version: 0 };
}

export async function roomGroup(server: Server, joining: JoinOptions = { edits: true }): Promise<Group> {
  const path = `/api/rooms/${await createRoom(server)}`;
  const sockets = await joinAll(devices, `ws://127.0.0.1:${server.port}${path}/live`, joining);
  return { server, sockets, path: `${path}/content`, version: 0 };
}

/** Alternates in short turns, so that other load on the machine affects all groups. */
export async function broadcast(groups: Group[], rounds: number): Promise<Broadcasts[]> {
  const turn = 50;
  const results: Broadcasts[] = groups.map(() => ({ p50: [], p99: [], cpu: [] }));
  for (let round = 0; round <= rounds; round++) {
    const measured = groups.map(() => ({ times: [] as number[], cpu: 0 }));
    for (let n = 0; n < writes; n += turn) {
      for (const [i, group] of groups.entries()) {
        const before = cpuOf(group.server.process);
        for (let k = 0; k < turn; k++) measured[i]?.times.push(await timeToLast(group));
        (measured[i] as { cpu: number }).cpu += cpuOf(group.server.process) - before;
      }
    }
    // The first round warms up.
    if (round > 0)
      for (const [i, result] of results.entries()) addRound(result, measured[i] as (typeof measured)[number]);
  }
  for (const { sockets } of groups) for (const socket of sockets) socket.terminate();
  return results;
}

function addRound({ p50, p99, cpu }: Broadcasts, taken: { times: number[]; cpu: number }): void {
  p50.push(quantile(taken.times, 0.5));
  p99.push(quantile(taken.times, 0.99));
  cpu.push(taken.cpu / taken.times.length);
}

async function timeToLast(group: Group): Promise<number> {
  group.version += 1;
  const received = allReceive(group, `"version":${group.version},`);
  const startedAt = performance.now();
  const answered = post(group, JSON.stringify({ content: `${group.version} ${'x'.repeat(100)}` }));
  await received;
  const took = performance.now() - startedAt;
  await answered;
  return took;
}

/** Does not parse messages, because the client must be cheaper than the server it measures. */
function allReceive({ sockets }: Group, part: string): Promise<void> {
  let missing = sockets.length;
  return new Promise((resolve) => {
    for (const socket of sockets) {
      socket.onmessage = ({ data }) => {
        if (!(data as string).includes(part)) return;
        socket.onmessage = null;
        missing -= 1;
        if (missing === 0) resolve();
      };
    }
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function post({ server: { port }, path }: Group, body: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: '127.0.0.1', path, method: 'POST', headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`A write failed with status ${response.statusCode}.`));
      response.resume().once('end', resolve);
    });
    sent.once('error', reject).end(body);
  });
}
