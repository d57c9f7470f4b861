/** How fast a change reaches a hundred devices, and what ten thousand idle ones cost. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { cpuOf, median, quantile, rssOf } from '../processes.ts';
import { makeRoom, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atMost, type Row } from '../table.ts';

const rounds = 5;
const devices = 100;
const writes = 200;
const idleSockets = 10_000;
const socketsPerRoom = 50;
const idleSeconds = 60;

export async function compareBroadcast(): Promise<Row[]> {
  const [poproom, bare] = [await startPoproom({ port: 18_080 }), await startBare('broadcast.ts', 18_081)];
  try {
    const room = await makeRoom(poproom);
    const own = await openAll(devices, `ws://127.0.0.1:${poproom.port}/api/rooms/${room}/live`);
    const others = await openAll(devices, `ws://127.0.0.1:${bare.port}/`);
    const p99 = { bare: [] as number[], poproom: [] as number[] };
    for (let round = 0; round <= rounds; round++) {
      const taken = { bare: [] as number[], poproom: [] as number[] };
      for (let n = 0; n < writes; n++) {
        taken.bare.push(await timeToLast(others, `${bare.url}/`, `${round} ${n}`));
        taken.poproom.push(await timeToLast(own, `${poproom.url}/api/rooms/${room}/content`, `${round} ${n}`));
      }
      // The first round warms up.
      if (round > 0) for (const who of ['bare', 'poproom'] as const) p99[who].push(quantile(taken[who], 0.99));
    }
    for (const socket of [...own, ...others]) socket.terminate();
    const show = (all: number[]) => `${median(all).toFixed(1)} ms`;
    const work = 'from a write to the last of 100 devices, p99';
    const ratio = atMost(median(p99.poproom) / median(p99.bare), 1.5);
    return [{ work, against: `bare ws broadcast: ${show(p99.bare)}`, poproom: show(p99.poproom), ...ratio }];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
  }
}

export async function measureIdle(): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  try {
    await writeText(`${poproom.url}/api/rooms/${await makeRoom(poproom)}/content`, 'warm');
    const before = rssOf(poproom.process);
    const sockets: WebSocket[] = [];
    for (let n = 0; n < idleSockets / socketsPerRoom; n++) {
      const room = await makeRoom(poproom);
      sockets.push(...(await openAll(socketsPerRoom, `ws://127.0.0.1:${poproom.port}/api/rooms/${room}/live`)));
    }
    const each = (rssOf(poproom.process) - before) / idleSockets / 1024;
    const share = await shareOfCore(poproom);
    for (const socket of sockets) socket.terminate();
    const memory = { work: '10,000 idle live channels, memory of each', poproom: `${each.toFixed(1)} KiB` };
    const cpu = {
      work: `10,000 idle live channels, CPU over ${idleSeconds} s`,
      poproom: `${share.toFixed(2)} % of a core`,
    };
    return [
      { ...memory, against: '—', ratio: '—', wanted: '≤ 16 KiB', reached: each <= 16 },
      { ...cpu, against: '—', ratio: '—', wanted: '< 3 %', reached: share < 3 },
    ];
  } finally {
    await poproom.stop();
  }
}

async function shareOfCore({ process }: Server): Promise<number> {
  await pause(5000);
  const before = cpuOf(process);
  await pause(idleSeconds * 1000);
  return (cpuOf(process) - before) / (idleSeconds * 1e4);
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

async function timeToLast(sockets: WebSocket[], url: string, name: string): Promise<number> {
  const content = `text ${name} ${'x'.repeat(100)}`;
  const told = Promise.all(sockets.map((socket) => heardOf(socket, content)));
  const startedAt = performance.now();
  const answered = writeText(url, content);
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
