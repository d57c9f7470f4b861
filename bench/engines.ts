/** `npm run bench:engines`: reading on the embedded and on the distributed engine, in one run on one machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../test/support/redis.ts';
import { compare, type Figures } from './load.ts';
import { firstAnswer, serverCore, startOn, stop } from './processes.ts';

const root = new URL('..', import.meta.url).pathname;
const poproom = [process.execPath, join(root, 'bin/poproom.js'), 'serve'];
const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'everysec']);

const common = { POPROOM_HOST: '127.0.0.1', POPROOM_FREE_LIMIT: '1000000000' };
const engines = [
  { name: 'SQLite', port: 18_080, settings: { POPROOM_DATA_DIR: join(folder, 'embedded') } },
  {
    name: 'Redis',
    port: 18_082,
    settings: {
      POPROOM_DATA_DIR: join(folder, 'node'),
      POPROOM_STORE: redis.url,
      POPROOM_SECRET: 'a secret of the benchmark',
    },
  },
];

const servers = engines.map(({ name, port, settings }) => ({
  name,
  port,
  process: startOn(serverCore, poproom, { ...common, ...settings, PORT: String(port) }),
}));
try {
  await Promise.all(servers.map(({ port }) => firstAnswer(port, '/api/health')));
  const targets = await Promise.all(
    servers.map(async (server) => {
      const rooms = await Promise.all(Array.from({ length: 64 }, () => makeRoom(server.port)));
      return { ...server, paths: rooms.map((room) => `/api/rooms/${room}/content`) };
    }),
  );
  const [embedded, distributed] = compare(targets) as [Figures, Figures];
  const show = ({ perSecond, cpuMicros }: Figures) => `${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs CPU`;
  const ratio = (distributed.perSecond / embedded.perSecond).toFixed(2);
  console.log('| | SQLite | Redis | ratio | wanted |\n|---|---|---|---|---|');
  console.log(
    `| reading the text, one node, 64 connections | ${show(embedded)} | ${show(distributed)} | ${ratio} | ≥ 0.40 |`,
  );
} finally {
  await Promise.all(servers.map(({ process }) => stop(process)));
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function makeRoom(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/rooms`, { method: 'POST' });
  return ((await response.json()) as { roomId: string }).roomId;
}
