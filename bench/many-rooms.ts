/** `npm run bench:rooms`: what a read costs among a thousand rooms and among a million, on both engines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@redis/client';
import { drawSymbols, type RoomCode } from '../src/core/room-code.ts';
import { createKeys } from '../src/store/redis/keys.ts';
import { type RedisServer, startRedis } from '../test/support/redis.ts';
import { firstAnswer, median, serverCore, startOn, stop } from './processes.ts';

const root = new URL('..', import.meta.url).pathname;
const poproom = [process.execPath, join(root, 'bin/poproom.js'), 'serve'];
const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
const rounds = 5;
const readsPerRound = 1_000;
const [few, many] = [1_000, 1_000_000];
const text = 'x'.repeat(100);
const dayMs = 86_400_000;

interface Place {
  name: string;
  rooms: number;
  port: number;
  settings: Record<string, string>;
  fill(codes: RoomCode[]): Promise<void>;
}

const servers: RedisServer[] = [];
const places = [
  embedded(few, 18_090),
  embedded(many, 18_091),
  await distributed(few, 18_092),
  await distributed(many, 18_093),
];
try {
  const figures = await measure(places);
  console.log('| | 1,000 rooms | 1,000,000 rooms | ratio | wanted |\n|---|---|---|---|---|');
  for (const [i, engine] of ['SQLite', 'Redis'].entries()) {
    const [small = Number.NaN, large = Number.NaN] = figures.slice(2 * i, 2 * i + 2);
    const row = [
      `one read, ${engine}, p50`,
      `${small.toFixed(0)} µs`,
      `${large.toFixed(0)} µs`,
      (large / small).toFixed(2),
      '≤ 1.3',
    ];
    console.log(`| ${row.join(' | ')} |`);
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}

/** In turns, so that a busy moment of the machine hits all of them. */
async function measure(places: Place[]): Promise<number[]> {
  const running = [];
  for (const place of places) running.push(await open(place));
  const taken: number[][] = places.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { port, codes }] of running.entries()) {
      const times = await read(port, codes);
      // The first round warms up.
      if (round > 0) taken[i]?.push(median(times));
    }
  }
  await Promise.all(running.map(({ process }) => stop(process)));
  return taken.map(median);
}

async function open({ rooms, port, settings, fill }: Place) {
  const env = { POPROOM_HOST: '127.0.0.1', POPROOM_FREE_LIMIT: '1000000000', ...settings, PORT: String(port) };
  const start = async () => {
    const child = startOn(serverCore, poproom, env);
    await firstAnswer(port, '/api/health');
    return child;
  };
  // The first start makes the tables.
  await stop(await start());
  const codes = Array.from({ length: rooms }, () => drawSymbols().slice(0, 10) as RoomCode);
  await fill(codes);
  return { port, codes, process: await start() };
}

async function read(port: number, codes: RoomCode[]): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let i = 0; i < readsPerRound; i++) {
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

function embedded(rooms: number, port: number): Place {
  const dataDir = join(folder, `sqlite-${rooms}`);
  return {
    name: 'SQLite',
    rooms,
    port,
    settings: { POPROOM_DATA_DIR: dataDir },
    async fill(codes) {
      const db = new DatabaseSync(join(dataDir, 'poproom.db'));
      const now = Date.now();
      const insert = db.prepare(
        'INSERT INTO rooms (code, created_at, expires_at, written_at, content) VALUES (?, ?, ?, ?, ?)',
      );
      db.exec('BEGIN');
      for (const code of codes) insert.run(code, now, now + dayMs, now, text);
      db.exec('COMMIT');
      db.close();
    },
  };
}

async function distributed(rooms: number, port: number): Promise<Place> {
  const redis = await startRedis();
  servers.push(redis);
  return {
    name: 'Redis',
    rooms,
    port,
    settings: {
      POPROOM_DATA_DIR: join(folder, `redis-${rooms}`),
      POPROOM_STORE: redis.url,
      POPROOM_SECRET: 'a secret of the benchmark',
    },
    async fill(codes) {
      const client = createClient({ url: redis.url });
      await client.connect();
      const keys = createKeys('pop');
      const now = Date.now();
      const record = {
        createdAt: now,
        expiresAt: now + dayMs,
        pinMac: '',
        seq: 1,
        version: 1,
        writtenAt: now,
        content: text,
      };
      const room = { ...record, fileCount: 0, fileBytes: 0, pinAttempts: 0 };
      for (let at = 0; at < codes.length; at += 2_000) {
        const portion = codes.slice(at, at + 2_000);
        await Promise.all(portion.map((code) => client.hSet(keys.ofRoom(code).room, room)));
        await client.zAdd(
          keys.rooms,
          portion.map((value) => ({ value, score: now + dayMs })),
        );
      }
      client.destroy();
    },
  };
}
