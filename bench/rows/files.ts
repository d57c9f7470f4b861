/** 32 concurrent uploads and downloads of 10 MB, compared with pipes of bare Node. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuOf, median, rssOf } from '../processes.ts';
import { createRooms, type Server, startBare, startPoproom } from '../servers.ts';
import { atLeast, type Row } from '../table.ts';

const rounds = 5;
const concurrency = 32;
const bytes = Buffer.alloc(10_000_000, 'poproom ');
const megabytes = (concurrency * bytes.length) / 1e6;

interface Measurements {
  /** Megabytes per second, for each round. */
  speeds: number[];
  /** Microseconds per megabyte, for each round. */
  cpu: number[];
}

export async function compareFiles(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const [poproom, bare] = [await startPoproom({ port: 18_080 }), await startBare('files.js', 18_081, folder)];
  try {
    const own = await uploaderTo(poproom);
    const memory = { up: watchMemory(poproom), down: watchMemory(poproom) };
    const { up, down } = await transfer(
      [{ server: bare, paths: async () => Array(concurrency).fill('/') }, own],
      rounds,
      () => {
        memory.up.stop();
        memory.down.restart();
      },
    );
    memory.down.stop();
    return [
      rowOf('uploads of 10 MB, 32 concurrent', 'node:http piping to a file, with fsync', up, 1),
      memoryRow('uploads', memory.up.growth(), 64),
      rowOf('downloads of 10 MB, 32 concurrent', 'createReadStream().pipe()', down, 0.9),
      memoryRow('downloads', memory.down.growth(), 32),
    ];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Uploader {
  server: Server;
  /** Paths for concurrent uploads. Each call creates new rooms, because a room holds ten such files. */
  paths: () => Promise<string[]>;
}

/** Uploads one file first, so that loading code does not count as memory growth. */
export async function uploaderTo(server: Server): Promise<Uploader> {
  const paths = async () => (await createRooms(server, concurrency)).map((room) => `/api/rooms/${room}/upload`);
  await uploadAll(server, (await paths()).slice(0, 1));
  return { server, paths };
}

/** Uploads, then downloads, alternating between the servers. */
export async function transfer(uploaders: Uploader[], rounds: number, afterUploads = () => {}) {
  const up = uploaders.map(noMeasurements);
  const down = uploaders.map(noMeasurements);
  let files: string[][] = [];
  for (let round = 0; round <= rounds; round++) {
    files = [];
    for (const [i, { server, paths }] of uploaders.entries()) {
      const to = await paths();
      files.push(await timed(server, round, up[i] as Measurements, () => uploadAll(server, to)));
    }
  }
  afterUploads();
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { server }] of uploaders.entries()) {
      await timed(server, round, down[i] as Measurements, () => downloadAll(server, files[i] ?? []));
    }
  }
  return { up, down };
}

function watchMemory({ process }: Server) {
  let before = rssOf(process);
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, rssOf(process));
  }, 20);
  return {
    stop: () => clearInterval(timer),
    /** Forgets the growth so far. */
    restart() {
      before = rssOf(process);
      peak = before;
    },
    growth: () => (peak - before) / 2 ** 20,
  };
}

function memoryRow(what: string, growth: number, most: number): Row {
  const work = `memory during the ${what}`;
  const poproom = `${growth.toFixed(0)} MiB growth`;
  return { work, poproom, baseline: '—', ratio: '—', bound: `≤ ${most} MiB`, isMet: growth <= most };
}

const noMeasurements = (): Measurements => ({ speeds: [], cpu: [] });

/** The first round warms up. */
async function timed<T>(
  { process }: Server,
  round: number,
  measured: Measurements,
  work: () => Promise<T>,
): Promise<T> {
  const [startedAt, cpu] = [performance.now(), cpuOf(process)];
  const result = await work();
  if (round === 0) return result;
  measured.speeds.push(megabytes / ((performance.now() - startedAt) / 1000));
  measured.cpu.push((cpuOf(process) - cpu) / megabytes);
  return result;
}

function rowOf(
  work: string,
  against: string,
  [bare = noMeasurements(), poproom = noMeasurements()]: Measurements[],
  least: number,
): Row {
  const show = ({ speeds, cpu }: Measurements) =>
    `${median(speeds).toFixed(0)} MB/s, ${median(cpu).toFixed(0)} µs CPU per MB`;
  const ratio = atLeast(median(poproom.speeds) / median(bare.speeds), least);
  return { work, baseline: `${against}: ${show(bare)}`, poproom: show(poproom), ...ratio };
}

const agent = new Agent({ keepAlive: true, maxSockets: 2 * concurrency });

/** Returns the paths of the files. */
function uploadAll({ port }: Server, paths: string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => uploadFile(port, path)));
}

function uploadFile(port: number, path: string): Promise<string> {
  const headers = { 'Content-Type': 'application/octet-stream', 'X-File-Name': 'file', 'Content-Length': bytes.length };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode !== 201)
          return reject(new Error(`An upload failed with status ${response.statusCode}.`));
        resolve(new URL((JSON.parse(text) as { fileUrl: string }).fileUrl, 'http://localhost').pathname);
      });
    });
    outgoing.on('error', reject).end(bytes);
  });
}

async function downloadAll({ port }: Server, paths: string[]): Promise<void> {
  const sizes = await Promise.all(paths.map((path) => downloadFile(port, path)));
  if (sizes.some((size) => size !== bytes.length)) throw new Error('A download was incomplete.');
}

function downloadFile(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, agent }, (response) => {
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
      });
      response.on('end', () => resolve(size));
    });
    outgoing.on('error', reject).end();
  });
}
