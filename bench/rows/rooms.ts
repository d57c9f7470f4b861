/** The cost of a read with a thousand and a million rooms, and during a sweep of a hundred thousand rooms. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { RoomCode } from '../../src/core/room-code.ts';
import { startRedis } from '../../test/support/redis.ts';
import { median, quantile } from '../processes.ts';
import { type Server, startPoproom } from '../servers.ts';
import { drawCodes, fillRedis, fillSqlite } from '../stores.ts';
import { atMost, type Row } from '../table.ts';

const rounds = 15;
const readsPerRound = 2_000;
/** Until V8 has optimized the code. */
const warmUpReads = 20_000;
const [few, many, swept] = [1_000, 1_000_000, 100_000];
const sweeps = 5;

interface FilledServer {
  server: Server;
  codes: RoomCode[];
  stop(): Promise<void>;
}

/** Also measures reads during a sweep. */
export async function compareManyOnSqlite(): Promise<Row[]> {
  return compareMany('SQLite', onSqlite, measureSweeps);
}

export async function compareManyOnRedis(): Promise<Row[]> {
  return compareMany('Redis', onRedis);
}

async function compareMany(
  name: string,
  fill: (rooms: number, port: number) => Promise<FilledServer>,
  moreRows: (filled: FilledServer) => Promise<Row[]> = async () => [],
): Promise<Row[]> {
  const [small, large] = [await fill(few, 18_080), await fill(many, 18_081)];
  try {
    const [theirs, own] = (await readAlternately([small, large])) as [number, number];
    const work = `one read among 1,000,000 rooms, ${name}, p50`;
    const show = (micros: number) => `${micros.toFixed(0)} µs`;
    const row = { work, baseline: `1,000 rooms: ${show(theirs)}`, poproom: show(own), ...atMost(own / theirs, 1.2) };
    return [row, ...(await moreRows(large))];
  } finally {
    await Promise.all([small.stop(), large.stop()]);
  }
}

/** Alternates, so that other load on the machine affects both. Returns the median of each. */
async function readAlternately(servers: FilledServer[]): Promise<number[]> {
  const measured: number[][] = servers.map(() => []);
  for (const { server, codes } of servers) await readSome(server, codes, warmUpReads);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { server, codes }] of servers.entries()) {
      measured[i]?.push(median(await readSome(server, codes, readsPerRound)));
    }
  }
  return measured.map(median);
}

async function onSqlite(rooms: number, port: number): Promise<FilledServer> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const settings = { POPROOM_DATA_DIR: folder };
  const codes = drawCodes(rooms);
  // The first start creates the tables.
  await (await startPoproom({ port, settings })).stop();
  fillSqlite(join(folder, 'poproom.db'), codes);
  const server = await startPoproom({ port, settings });
  return {
    server,
    codes,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function onRedis(rooms: number, port: number): Promise<FilledServer> {
  const redis = await startRedis();
  const codes = drawCodes(rooms);
  await fillRedis(redis.url, codes);
  const settings = { POPROOM_STORE: redis.url, POPROOM_SECRET: 'a secret of the benchmark' };
  const server = await startPoproom({ port, settings });
  return {
    server,
    codes,
    async stop() {
      await server.stop();
      await redis.stop();
    },
  };
}

/** Five times, a hundred thousand rooms expire together while the other million is read. */
async function measureSweeps(filled: FilledServer): Promise<Row[]> {
  const measured: number[][] = [];
  for (let sweep = 0; sweep < sweeps; sweep++) measured.push(await readDuringSweep(filled));
  const p99 = median(measured.map((times) => quantile(times, 0.99))) / 1000;
  const slowest = Math.max(...measured.flat()) / 1000;
  const work = 'reads among them while 100,000 expired rooms are swept, p99';
  const [poproom, bound] = [`${p99.toFixed(1)} ms, slowest of all ${slowest.toFixed(0)} ms`, '< 50 ms'];
  return [{ work, baseline: '—', poproom, ratio: '—', bound, isMet: p99 < 50 }];
}

/** Durations in microseconds of the reads from the first removed room to the last. */
async function readDuringSweep({ server, codes }: FilledServer): Promise<number[]> {
  const file = join(folderOf(server), 'poproom.db');
  const expiresAt = Date.now() + 5000;
  fillSqlite(file, drawCodes(swept), expiresAt);
  const db = new DatabaseSync(file, { readOnly: true });
  const count = db.prepare('SELECT count(*) AS n FROM rooms WHERE expires_at <= ?');
  const times: number[] = [];
  for (let left = swept; left > 0; ) {
    const some = await readSome(server, codes, 100);
    if (left === swept) await pause(20);
    left = Number(count.get(expiresAt)?.n);
    if (left < swept) times.push(...some);
  }
  db.close();
  return times;
}

const folderOf = ({ settings }: Server) => settings.POPROOM_DATA_DIR ?? '';

/** Durations in microseconds. */
async function readSome({ port }: Server, codes: readonly RoomCode[], count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const code = codes[Math.floor(Math.random() * codes.length)];
    const startedAt = performance.now();
    await read({ agent, port, path: `/api/rooms/${code}/content` });
    times.push((performance.now() - startedAt) * 1000);
  }
  agent.destroy();
  return times;
}

function read(options: { agent: Agent; port: number; path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', ...options }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`A read failed with status ${response.statusCode}.`));
      response.resume().once('end', () => resolve());
    }).once('error', reject);
  });
}
