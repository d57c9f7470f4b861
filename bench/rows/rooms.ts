/** What a read costs among a thousand rooms and among a million, and while a hundred thousand are swept away. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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

interface Filled {
  server: Server;
  codes: RoomCode[];
  stop(): Promise<void>;
}

export async function compareManyOnSqlite(): Promise<Row[]> {
  return [await compareMany('SQLite', 1.2, onSqlite)];
}

export async function compareManyOnRedis(): Promise<Row[]> {
  return [await compareMany('Redis', 1.3, onRedis)];
}

/** In turns, so that a busy moment of the machine hits both. */
async function compareMany(name: string, wanted: number, fill: (rooms: number, port: number) => Promise<Filled>) {
  const places = [await fill(few, 18_080), await fill(many, 18_081)];
  const taken: number[][] = places.map(() => []);
  for (const { server, codes } of places) await readSome(server, codes, warmUpReads);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { server, codes }] of places.entries()) {
      taken[i]?.push(median(await readSome(server, codes, readsPerRound)));
    }
  }
  await Promise.all(places.map(({ stop }) => stop()));
  const [small, large] = taken.map(median) as [number, number];
  const work = `one read among 1,000,000 rooms, ${name}, p50`;
  const show = (micros: number) => `${micros.toFixed(0)} µs`;
  return { work, against: `1,000 rooms: ${show(small)}`, poproom: show(large), ...atMost(large / small, wanted) };
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

/** Rooms that are read go on living, while a hundred thousand others come to their end at once. */
export async function measureSweep(): Promise<Row[]> {
  const { server, codes, stop } = await onSqlite(few, 18_080);
  try {
    const file = join(folderOf(server), 'poproom.db');
    fillSqlite(file, drawCodes(swept), Date.now() + 1000);
    const db = new DatabaseSync(file, { readOnly: true });
    const left = db.prepare('SELECT count(*) AS n FROM rooms WHERE expires_at <= ?');
    const times: number[] = [];
    const startedAt = performance.now();
    do times.push(...(await readSome(server, codes, 500)));
    while (Number(left.get(Date.now())?.n) > 0 || performance.now() - startedAt < 2000);
    db.close();
    const seconds = (performance.now() - startedAt) / 1000;
    const p99 = quantile(times, 0.99) / 1000;
    const work = `reads until a sweep of 100,000 expired rooms is over (${seconds.toFixed(0)} s), p99`;
    const [poproom, wanted] = [`${p99.toFixed(1)} ms, slowest ${(quantile(times, 1) / 1000).toFixed(0)} ms`, '< 50 ms'];
    return [{ work, against: '—', poproom, ratio: '—', wanted, reached: p99 < 50 }];
  } finally {
    await stop();
  }
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
