/** `npm run bench:engines`: compares reads on the embedded engine, the distributed engine, and two nodes of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../test/support/redis.ts';
import { compare, type LoadResult } from './load.ts';
import { firstResponse, serverCore, startOn, stop } from './processes.ts';
import { compareTwoNodes } from './two-nodes.ts';

const root = new URL('..', import.meta.url).pathname;
const poproom = [process.execPath, join(root, 'bin/poproom.js'), 'serve'];
const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'everysec']);

const common = {
  POPROOM_HOST: '127.0.0.1',
  POPROOM_FREE_LIMIT: '1000000000',
  POPROOM_WORK_LIMIT: '0',
  POPROOM_CLIENT_MAX_BYTES: '900000GiB',
};
const onRedis = (name: string) => ({
  POPROOM_DATA_DIR: join(folder, name),
  POPROOM_STORE: redis.url,
  POPROOM_SECRET: 'a secret of the benchmark',
});
const engines = [
  { name: 'SQLite', port: 18_080, settings: { POPROOM_DATA_DIR: join(folder, 'embedded') } },
  { name: 'Redis', port: 18_082, settings: onRedis('node') },
];

try {
  await compareEngines();
  const settings = [18_083, 18_084].map((port) => ({ ...common, ...onRedis(`node-${port}`), PORT: String(port) }));
  await compareTwoNodes({ command: poproom, settings, redis, makeRoom });
} finally {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function compareEngines(): Promise<void> {
  const servers = engines.map(({ name, port, settings }) => ({
    name,
    port,
    process: startOn(serverCore, poproom, { ...common, ...settings, PORT: String(port) }),
  }));
  try {
    await Promise.all(servers.map(({ port }) => firstResponse(port, '/api/health')));
    const targets = await Promise.all(
      servers.map(async (server) => {
        const rooms = await Promise.all(Array.from({ length: 64 }, () => makeRoom(server.port)));
        return { ...server, paths: rooms.map((room) => `/api/rooms/${room}/content`) };
      }),
    );
    print(...(compare(targets) as [LoadResult, LoadResult]));
  } finally {
    await Promise.all(servers.map(({ process }) => stop(process)));
  }
}

function print(embedded: LoadResult, distributed: LoadResult): void {
  const show = ({ perSecond, cpuMicros }: LoadResult) => `${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs CPU`;
  const ratio = (distributed.perSecond / embedded.perSecond).toFixed(2);
  console.log('| | SQLite | Redis | ratio | bound |\n|---|---|---|---|---|');
  console.log(
    `| reading the text, one node, 64 connections | ${show(embedded)} | ${show(distributed)} | ${ratio} | ≥ 0.40 |`,
  );
}

async function makeRoom(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/rooms`, { method: 'POST' });
  return ((await response.json()) as { roomId: string }).roomId;
}
