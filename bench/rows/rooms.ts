/** The cost of a read among a thousand rooms, among a million, and during a sweep of a hundred thousand more. */
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
/** Until the compiler of Node has made its mind up. */
const warmUpReads = 20_000;
const [few, many, swept] = [1_000, 1_000_000, 100_000];
const sweeps = 5;

interface Filled {
  server: Server;
  codes: RoomCode[];
  stop(): Promise<void>;
}

/** And what the reads are like while some of the million are swept away. */
export async function compareManyOnSqlite(): Promise<Row[]> {
  return compareMany('SQLite', onSqlite, measureSweeps);
}

export async function compareManyOnRedis(): Promise<Row[]> {
  return compareMany('Redis', onRedis);
}

async function compareMany(
  name: string,
  fill: (rooms: number, port: number) => Promise<Filled>,
  andThen: (filled: Filled) => Promise<Row[]> = async () => [],
): Promise<Row[]> {
  const [small, large] = [await fill(few, 18_080), await fill(many, 18_081)];
  try {
    const [theirs, own] = (await readInTurns([small, large])) as [number, number];
    const work = `one read among 1,000,000 rooms, ${name}, p50`;
    const show = (micros: number) => `${micros.toFixed(0)} µs`;
    const row = { work, against: `1,000 rooms: ${show(theirs)}`, poproom: show(own), ...atMost(own / theirs, 1.2) };
    return [row, ...(await andThen(large))];
  } finally {
    await Promise.all([small.stop(), large.stop()]);
  }
}

/** In turns, so that a busy moment of the machine hits both. Answers the median of each. */
async function readInTurns(places: Filled[]): Promise<number[]> {
  const taken: number[][] = places.map(() => []);
  for (const { server, codes } of places) await readSome(server, codes, warmUpReads);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { server, codes }] of places.entries()) {
      taken[i]?.push(median(await readSome(server, codes, readsPerRound)));
    }
  }
  return taken.map(median);
}

async function onSqlite(rooms: number, port: number): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const settings = { POPROOM_DATA_DIR: folder };
  const codes = drawCodes(rooms);
  // The first start makes the tables.
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

async function onRedis(rooms: number, port: number): Promise<Filled> {
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

/** Five times, a hundred thousand rooms expire simultaneously while the million others are read. */
async function measureSweeps(filled: Filled): Promise<Row[]> {
  const taken: number[][] = [];
  for (let sweep = 0; sweep < sweeps; sweep++) taken.push(await readDuringSweep(filled));
  const p99 = median(taken.map((times) => quantile(times, 0.99))) / 1000;
  const slowest = Math.max(...taken.flat()) / 1000;
  const work = 'reads among them while 100,000 expired rooms are swept, p99';
  const [poproom, wanted] = [`${p99.toFixed(1)} ms, slowest of all ${slowest.toFixed(0)} ms`, '< 50 ms'];
  return [{ work, against: '—', poproom, ratio: '—', wanted, reached: p99 < 50 }];
}

/** Microseconds of each read from the first room that is swept to the last. */
async function readDuringSweep({ server, codes }: Filled): Promise<number[]> {
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

/** Microseconds of each. */
async function readSome({ port }: Server, codes: readonly RoomCode[], count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const code = codes[Math.floor(Math.random() * codes.length)];
    const startedAt = performance.now();
    await ask({ agent, port, path: `/api/rooms/${code}/content` });
    times.push((performance.now() - startedAt) * 1000);
  }
  agent.destroy();
  return times;
}

function ask(options: { agent: Agent; port: number; path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', ...options }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The answer was ${response.statusCode}.`));
      response.resume().once('end', () => resolve());
    }).once('error', reject);
  });
}
