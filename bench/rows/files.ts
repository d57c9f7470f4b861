/** Concurrent uploads and downloads of 32 files of 10 MB, compared with plain Node streams. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuOf, median, rssOf } from '../processes.ts';
import { makeRooms, type Server, startBare, startPoproom } from '../servers.ts';
import { atLeast, type Row } from '../table.ts';

const rounds = 5;
const atOnce = 32;
const bytes = Buffer.alloc(10_000_000, 'poproom ');
const megabytes = (atOnce * bytes.length) / 1e6;

interface Measured {
  /** Of a second, round by round. */
  speeds: number[];
  /** Microseconds a megabyte. */
  cpu: number[];
}

export async function compareFiles(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const [poproom, bare] = [await startPoproom({ port: 18_080 }), await startBare('files.js', 18_081, folder)];
  try {
    const own = await uploaderTo(poproom);
    const memory = watchMemory(poproom);
    const { up, down } = await transfer(
      [{ server: bare, paths: async () => Array(atOnce).fill('/') }, own],
      rounds,
      memory.stop,
    );
    return [
      rowOf('uploads of 10 MB, 32 concurrent', 'node:http piping to a file, with fsync', up),
      memoryRow(memory.growth()),
      rowOf('downloads of 10 MB, 32 concurrent', 'createReadStream().pipe()', down),
    ];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Uploader {
  server: Server;
  /** To upload to, at once; others each time, since a room holds ten such files. */
  paths: () => Promise<string[]>;
}

/** One that has taken a file: what it loads for the first is no growth. */
export async function uploaderTo(server: Server): Promise<Uploader> {
  const paths = async () => (await makeRooms(server, atOnce)).map((room) => `/api/rooms/${room}/upload`);
  await ups(server, (await paths()).slice(0, 1));
  return { server, paths };
}

/** Up and then down, of all servers in turns. */
export async function transfer(uploaders: Uploader[], rounds: number, afterUploads = () => {}) {
  const up = uploaders.map(none);
  const down = uploaders.map(none);
  let files: string[][] = [];
  for (let round = 0; round <= rounds; round++) {
    files = [];
    for (const [i, { server, paths }] of uploaders.entries()) {
      const to = await paths();
      files.push(await timed(server, round, up[i] as Measured, () => ups(server, to)));
    }
  }
  afterUploads();
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { server }] of uploaders.entries()) {
      await timed(server, round, down[i] as Measured, () => downs(server, files[i] ?? []));
    }
  }
  return { up, down };
}

function watchMemory({ process }: Server) {
  const before = rssOf(process);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, rssOf(process));
  }, 20);
  return { stop: () => clearInterval(watch), growth: () => (most - before) / 2 ** 20 };
}

function memoryRow(growth: number): Row {
  const work = 'memory during the uploads';
  const poproom = `${growth.toFixed(0)} MiB more at most`;
  return { work, poproom, against: '—', ratio: '—', wanted: '≤ 64 MiB', reached: growth <= 64 };
}

const none = (): Measured => ({ speeds: [], cpu: [] });

/** The first round warms up. */
async function timed<T>({ process }: Server, round: number, measured: Measured, work: () => Promise<T>): Promise<T> {
  const [startedAt, cpu] = [performance.now(), cpuOf(process)];
  const result = await work();
  if (round === 0) return result;
  measured.speeds.push(megabytes / ((performance.now() - startedAt) / 1000));
  measured.cpu.push((cpuOf(process) - cpu) / megabytes);
  return result;
}

function rowOf(work: string, against: string, [bare = none(), poproom = none()]: Measured[]): Row {
  const show = ({ speeds, cpu }: Measured) =>
    `${median(speeds).toFixed(0)} MB/s, ${median(cpu).toFixed(0)} µs CPU a MB`;
  const ratio = atLeast(median(poproom.speeds) / median(bare.speeds), 0.8);
  return { work, against: `${against}: ${show(bare)}`, poproom: show(poproom), ...ratio };
}

const agent = new Agent({ keepAlive: true, maxSockets: 2 * atOnce });

/** Answers where the files are, as paths. */
function ups({ port }: Server, paths: string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => up(port, path)));
}

function up(port: number, path: string): Promise<string> {
  const headers = { 'Content-Type': 'application/octet-stream', 'X-File-Name': 'file', 'Content-Length': bytes.length };
  return new Promise((resolve, reject) => {
    const sending = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode !== 201) return reject(new Error(`An upload was answered ${response.statusCode}.`));
        resolve(new URL((JSON.parse(text) as { fileUrl: string }).fileUrl, 'http://localhost').pathname);
      });
    });
    sending.on('error', reject).end(bytes);
  });
}

async function downs({ port }: Server, paths: string[]): Promise<void> {
  const sizes = await Promise.all(paths.map((path) => down(port, path)));
  if (sizes.some((size) => size !== bytes.length)) throw new Error('A download was not whole.');
}

function down(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, agent }, (response) => {
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
      });
      response.on('end', () => resolve(size));
    });
    asking.on('error', reject).end();
  });
}
