/** Memory and CPU of idle live channels, compared with idle sockets of `ws` alone. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { joinAll } from '../devices.ts';
import { cpuOf, median, rssOf } from '../processes.ts';
import { createRoom, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atMost, type Row } from '../table.ts';

const rounds = 3;
const counts = [2000, 10_000];
const socketsPerRoom = 50;
/** The server returns memory after about 10 idle seconds, and V8 keeps it for another 8. */
const settleMs = 25_000;
const maxRatio = 1.5;
/** Two heartbeats of each channel. */
const idleSeconds = 50;

/** Alternates, so that other load on the machine affects both. */
export async function measureIdle(): Promise<Row[]> {
  const theirs: number[][] = counts.map(() => []);
  const own: number[][] = counts.map(() => []);
  const shares: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await withSockets(await startBare('sockets.js', 18_081), bareUrl, (i, each) => theirs[i]?.push(each));
    const poproom = await startWarm();
    await withSockets(
      poproom,
      roomUrl,
      (i, each) => own[i]?.push(each),
      async () => {
        shares.push(await cpuPercent(poproom));
      },
    );
  }
  const memory = counts.map((count, i) => memoryRow(count, theirs[i] ?? [], own[i] ?? []));
  return [...memory, cpuRow(shares)];
}

/** A server that has already loaded the code for a channel and a write. */
export async function startWarm(root?: string): Promise<Server> {
  const server = await startPoproom({ ...(root && { root }), port: 18_080 });
  await writeText(`${server.url}/api/rooms/${await createRoom(server)}/content`, 'warm');
  return server;
}

const bareUrl = async ({ port }: Server) => `ws://127.0.0.1:${port}/`;

export const roomUrl = async (server: Server) =>
  `ws://127.0.0.1:${server.port}/api/rooms/${await createRoom(server)}/live`;

/** Opens sockets up to each count, and reports the KiB per socket. Stops the server at the end. */
export async function withSockets(
  server: Server,
  nextUrl: (server: Server) => Promise<string>,
  onMeasured: (index: number, kibEach: number) => void,
  whileOpen: () => Promise<void> = async () => undefined,
): Promise<void> {
  const sockets: WebSocket[] = [];
  try {
    for (const socket of await joinAll(1, await nextUrl(server))) socket.terminate();
    const before = rssOf(server.process);
    for (const [i, count] of counts.entries()) {
      while (sockets.length < count) sockets.push(...(await joinAll(socketsPerRoom, await nextUrl(server))));
      await pause(settleMs);
      onMeasured(i, (rssOf(server.process) - before) / count / 1024);
    }
    await whileOpen();
  } finally {
    for (const socket of sockets) socket.terminate();
    await server.stop();
  }
}

function memoryRow(count: number, theirs: number[], own: number[]): Row {
  const work = `${count.toLocaleString('en')} idle live channels, memory of each`;
  const ratio = atMost(median(own) / median(theirs), maxRatio);
  return { work, baseline: `bare ws: ${spread(theirs, 1)} KiB`, poproom: `${spread(own, 1)} KiB`, ...ratio };
}

function cpuRow(shares: number[]): Row {
  const work = `10,000 idle live channels, CPU over ${idleSeconds} s`;
  const poproom = `${spread(shares, 2)} % of a core`;
  return { work, baseline: '—', poproom, ratio: '—', bound: '< 3 %', isMet: median(shares) < 3 };
}

const spread = (values: number[], digits: number) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

async function cpuPercent({ process }: Server): Promise<number> {
  await pause(5000);
  const before = cpuOf(process);
  await pause(idleSeconds * 1000);
  return (cpuOf(process) - before) / (idleSeconds * 1e4);
}
