/** How fast a change reaches a hundred devices, and what ten thousand idle ones cost. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { cpuOf, median, quantile, rssOf } from '../processes.ts';
import { makeRoom, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atMost, type Row } from '../table.ts';

const rounds = 5;
const devices = 100;
const writes = 1000;
const idleSockets = 10_000;
const socketsPerRoom = 50;
/** In which every heart beats twice. */
const idleSeconds = 50;

export async function compareBroadcast(): Promise<Row[]> {
  const [poproom, bare] = [await startPoproom({ port: 18_080 }), await startBare('broadcast.js', 18_081)];
  try {
    const others = { sockets: await openAll(devices, `ws://127.0.0.1:${bare.port}/`), url: `${bare.url}/` };
    const [theirs = [], own = []] = await broadcast([others, await crowdOf(poproom)], rounds);
    const show = (all: number[]) => `${median(all).toFixed(1)} ms`;
    const work = 'from a write to the last of 100 devices, p99';
    const ratio = atMost(median(own) / median(theirs), 1.5);
    return [{ work, against: `bare ws broadcast: ${show(theirs)}`, poproom: show(own), ...ratio }];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
  }
}

export interface Crowd {
  sockets: WebSocket[];
  /** Where a text is written that all of them are told of. */
  url: string;
}

/** A hundred devices in a room. */
export async function crowdOf(poproom: Server): Promise<Crowd> {
  const path = `/api/rooms/${await makeRoom(poproom)}`;
  const sockets = await openAll(devices, `ws://127.0.0.1:${poproom.port}${path}/live`);
  return { sockets, url: `${poproom.url}${path}/content` };
}

/** The p99 of each round, of all crowds in turns; milliseconds. */
export async function broadcast(crowds: Crowd[], rounds: number): Promise<number[][]> {
  const p99s: number[][] = crowds.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    const taken: number[][] = crowds.map(() => []);
    for (let n = 0; n < writes; n++) {
      for (const [i, crowd] of crowds.entries()) taken[i]?.push(await timeToLast(crowd, `${round} ${n}`));
    }
    // The first round warms up.
    if (round > 0) for (const [i, p99] of p99s.entries()) p99.push(quantile(taken[i] ?? [], 0.99));
  }
  for (const { sockets } of crowds) for (const socket of sockets) socket.terminate();
  return p99s;
}

export async function measureIdle(): Promise<Row[]> {
  const measured: { each: number; share: number }[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await idle());
  const each = measured.map((one) => one.each);
  const share = measured.map((one) => one.share);
  const memory = { work: '10,000 idle live channels, memory of each', poproom: `${spread(each, 1)} KiB` };
  const cpu = {
    work: `10,000 idle live channels, CPU over ${idleSeconds} s`,
    poproom: `${spread(share, 2)} % of a core`,
  };
  return [
    { ...memory, against: '—', ratio: '—', wanted: '≤ 16 KiB', reached: median(each) <= 16 },
    { ...cpu, against: '—', ratio: '—', wanted: '< 3 %', reached: median(share) < 3 },
  ];
}

/** KiB of each channel, and the percentage of a core that all of them take. */
async function idle(): Promise<{ each: number; share: number }> {
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
    return { each, share };
  } finally {
    await poproom.stop();
  }
}

const spread = (values: number[], digits: number) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

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

async function timeToLast({ sockets, url }: Crowd, name: string): Promise<number> {
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
