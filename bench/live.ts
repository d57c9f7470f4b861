/** `npm run bench:live`: how fast a change reaches a hundred devices, and what ten thousand idle ones cost. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { firstAnswer, median, serverCore, startOn, stop } from './processes.ts';

const root = new URL('..', import.meta.url).pathname;
const node = process.execPath;
const poproomPort = 18_080;
const barePort = 18_081;
const poproomUrl = `http://127.0.0.1:${poproomPort}`;
const devices = 100;
const writes = 300;
const idleSockets = 10_000;
const socketsPerRoom = 50;
const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));

execFileSync(node, [join(root, 'scripts/build.ts')]);
// Each idle socket is a file on both sides.
const unlimited = (command: string[]) => ['sh', '-c', 'ulimit -n 20000; exec "$@"', 'sh', ...command];
const server = startOn(serverCore, unlimited([node, join(root, 'bin/poproom.js'), 'serve']), {
  PORT: String(poproomPort),
  POPROOM_HOST: '127.0.0.1',
  POPROOM_DATA_DIR: folder,
  POPROOM_FREE_LIMIT: '1000000000',
  POPROOM_MAX_CHANNELS_PER_CLIENT: '100000',
});
const bare = startOn(serverCore, [node, join(root, 'bench/bare-broadcast.ts'), String(barePort)]);

try {
  await Promise.all([firstAnswer(poproomPort, '/api/health'), firstAnswer(barePort, '/')]);
  console.log(
    `\n${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`,
  );
  await compareBroadcast();
  await measureIdle();
} finally {
  await Promise.all([stop(server), stop(bare)]);
  rmSync(folder, { recursive: true, force: true });
}

async function compareBroadcast(): Promise<void> {
  const room = await makeRoom();
  const own = await openAll(devices, `${poproomUrl.replace('http', 'ws')}/api/rooms/${room}/live`);
  const others = await openAll(devices, `ws://127.0.0.1:${barePort}/`);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let n = 0; n < writes; n++) {
    theirs.push(await timeToLast(others, `http://127.0.0.1:${barePort}/`, n));
    ours.push(await timeToLast(own, `${poproomUrl}/api/rooms/${room}/content`, n));
  }
  for (const socket of [...own, ...others]) socket.terminate();
  console.log(
    '| from a write to the last of 100 devices | bare ws | Poproom | ratio | wanted |\n|---|---|---|---|---|',
  );
  for (const [name, at] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const [a, b] = [quantile(theirs.slice(50), at), quantile(ours.slice(50), at)];
    console.log(`| ${name} | ${a.toFixed(1)} ms | ${b.toFixed(1)} ms | ${(b / a).toFixed(2)} | ≤ 2 |`);
  }
}

async function measureIdle(): Promise<void> {
  const busy = await makeRoom();
  const before = { rss: rssOf(server.pid), write: await writeTime(busy) };
  const sockets: WebSocket[] = [];
  for (let n = 0; n < idleSockets / socketsPerRoom; n++) {
    const room = await makeRoom();
    sockets.push(...(await openAll(socketsPerRoom, `${poproomUrl.replace('http', 'ws')}/api/rooms/${room}/live`)));
  }
  const after = { rss: rssOf(server.pid), write: await writeTime(busy) };
  const each = (after.rss - before.rss) / idleSockets / 1024;
  console.log(`\n| ${idleSockets} idle sockets | | wanted |\n|---|---|---|`);
  console.log(`| memory of the server for each | ${each.toFixed(1)} KiB | ≤ 20 KiB |`);
  console.log(
    `| a write in another room, before and meanwhile | ${before.write.toFixed(1)} ms, ${after.write.toFixed(1)} ms | |`,
  );
  for (const socket of sockets) socket.terminate();
}

async function makeRoom(): Promise<string> {
  const response = await fetch(`${poproomUrl}/api/rooms`, { method: 'POST' });
  return ((await response.json()) as { roomId: string }).roomId;
}

function openAll(count: number, url: string): Promise<WebSocket[]> {
  return Promise.all(Array.from({ length: count }, () => open(url)));
}

/** Resolves when the first message is there, or, on the bare server, which sends none, when it is open. */
function open(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => {
      if (!url.includes('/api/')) return resolve(socket);
      socket.once('message', () => resolve(socket));
      socket.send(JSON.stringify({ type: 'join' }));
    });
  });
}

async function timeToLast(sockets: WebSocket[], url: string, n: number): Promise<number> {
  const content = `text number ${n} ${'x'.repeat(100)}`;
  const told = Promise.all(sockets.map((socket) => heardOf(socket, content)));
  const startedAt = performance.now();
  const answered = write(url, content);
  await told;
  const took = performance.now() - startedAt;
  await answered;
  return took;
}

function heardOf(socket: WebSocket, content: string): Promise<void> {
  return new Promise((resolve) => {
    const listen = (data: unknown) => {
      if (!String(data).includes(content)) return;
      socket.off('message', listen);
      resolve();
    };
    socket.on('message', listen);
  });
}

async function write(url: string, content: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ content }) });
  if (!response.ok) throw new Error(`A write was answered ${response.status}`);
  await response.text();
}

async function writeTime(room: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 100; n++) {
    const startedAt = performance.now();
    await write(`${poproomUrl}/api/rooms/${room}/content`, `text ${n}`);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

function rssOf(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function quantile(values: number[], at: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * at)] ?? Number.NaN;
}
