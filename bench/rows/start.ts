/** From the start of the process to the first healthy response, and the memory of an idle server. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { firstResponse, median, rssOf, runOn, serverCore, startOn, stop } from '../processes.ts';
import { createRoom, repositoryRoot, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atMost, type Row } from '../table.ts';

const rounds = 20;
const port = 18_080;

/** The caches of Node and of the disk are warm, as after any first start. */
export async function compareStart(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  try {
    const empty = join(folder, 'empty.js');
    writeFileSync(empty, '');
    const times = { empty: [] as number[], existing: [] as number[], fresh: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      times.empty.push(timed(() => runOn(serverCore, [process.execPath, empty])));
      times.existing.push(await timeToStart(join(folder, 'existing')));
      times.fresh.push(await timeToStart(join(folder, `fresh-${round}`)));
    }
    const theirs = median(times.empty);
    const rowOf = (work: string, own: number, maxRatio: number): Row => ({
      ...{ work, baseline: `an empty Node program: ${theirs.toFixed(0)} ms`, poproom: `${own.toFixed(0)} ms` },
      ...atMost(own / theirs, maxRatio),
    });
    return [
      rowOf('start to the first healthy response', median(times.existing.slice(2)), 2.3),
      rowOf('the same with an empty data folder', median(times.fresh.slice(2)), 2.6),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function timed(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

export async function timeToStart(folder: string, root = repositoryRoot): Promise<number> {
  const command = [process.execPath, join(root, 'bin/poproom.js'), 'serve'];
  const env = { PORT: String(port), POPROOM_HOST: '127.0.0.1', POPROOM_DATA_DIR: join(folder, 'data') };
  const startedAt = performance.now();
  const server = startOn(serverCore, command, env);
  const status = await firstResponse(port, '/api/health');
  const took = performance.now() - startedAt;
  if (!status.includes('200')) throw new Error(`The first response was: ${status}`);
  await firstResponse(port, '/readyz');
  await stop(server);
  return took;
}

/** After a thousand requests and five idle seconds. */
export async function compareIdleMemory(): Promise<Row[]> {
  const [theirs, own] = [[] as number[], [] as number[]];
  for (let round = 0; round < 5; round++) {
    theirs.push(await idleMemory(await startBare('fastify.js', 18_081)));
    own.push(await idleMemory(await startWarm()));
  }
  const show = (all: number[]) => `${(median(all) / 2 ** 20).toFixed(0)} MiB`;
  const ratio = atMost(median(own) / median(theirs), 1.5);
  return [{ work: 'memory when idle', baseline: `bare Fastify: ${show(theirs)}`, poproom: show(own), ...ratio }];
}

/** A server that has handled each kind of request once, so that all code is loaded. */
export async function startWarm(root = repositoryRoot): Promise<Server> {
  const server = await startPoproom({ root, port });
  const room = `${server.url}/api/rooms/${await createRoom(server, { pin: '0427' })}`;
  const headers = { 'x-room-pin': '0427' };
  await writeText(`${room}/content`, 'some text', '0427');
  const upload = await fetch(`${room}/upload?fileName=a.txt`, { method: 'POST', headers, body: 'some bytes' });
  const { fileUrl } = (await upload.json()) as { fileUrl: string };
  for (const url of [fileUrl, `${server.url}/`, `${room}/content`]) await (await fetch(url, { headers })).text();
  await joinOnce(`${room.replace('http', 'ws')}/live`, { type: 'join', pin: '0427' });
  return server;
}

/** Opens a live channel, receives the snapshot, and disconnects. */
async function joinOnce(url: string, join: object): Promise<void> {
  const socket = new WebSocket(url);
  socket.once('open', () => socket.send(JSON.stringify(join)));
  await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
}

export async function idleMemory(server: Server): Promise<number> {
  try {
    for (let i = 0; i < 1000; i++) await (await fetch(`${server.url}/api/health`)).text();
    await pause(5000);
    return rssOf(server.process);
  } finally {
    await server.stop();
  }
}
