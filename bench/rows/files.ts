/** Files of 10 MB, 32 at once, up and down, against pipes of bare Node. */
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
  const poproom = await startPoproom({ port: 18_080 });
  const bare = await startBare('files.ts', 18_081, folder);
  try {
    return await compareBoth(poproom, bare);
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareBoth(poproom: Server, bare: Server): Promise<Row[]> {
  const up = { bare: none(), poproom: none() };
  const down = { bare: none(), poproom: none() };
  const rss = { before: rssOf(poproom.process), most: 0 };
  const watch = setInterval(() => {
    rss.most = Math.max(rss.most, rssOf(poproom.process));
  }, 20);
  for (let round = 0; round <= rounds; round++) {
    const [rooms, theirs, own] = [await makeRooms(poproom, atOnce), none(), none()];
    const bareFiles = await timed(bare, theirs, () => ups(bare, Array(atOnce).fill('/')));
    const files = await timed(poproom, own, () =>
      ups(
        poproom,
        rooms.map((room) => `/api/rooms/${room}/upload`),
      ),
    );
    const [theirsDown, ownDown] = [none(), none()];
    await timed(bare, theirsDown, () => downs(bare, bareFiles));
    await timed(poproom, ownDown, () => downs(poproom, files));
    // The first round warms up.
    if (round > 0)
      for (const [all, one] of [
        [up.bare, theirs],
        [up.poproom, own],
        [down.bare, theirsDown],
        [down.poproom, ownDown],
      ] as const)
        add(all, one);
    await Promise.all(rooms.map((room) => fetch(`${poproom.url}/api/rooms/${room}`, { method: 'DELETE' })));
  }
  clearInterval(watch);
  const growth = (rss.most - rss.before) / 2 ** 20;
  return [
    rowOf('uploads of 10 MB, 32 at once', 'node:http piping to a file, with fsync', up),
    rowOf('downloads of 10 MB, 32 at once', 'createReadStream().pipe()', down),
    {
      work: 'memory during both',
      against: '—',
      poproom: `${growth.toFixed(0)} MiB more at most`,
      ratio: '—',
      wanted: '≤ 64 MiB',
      reached: growth <= 64,
    },
  ];
}

const none = (): Measured => ({ speeds: [], cpu: [] });

function add(all: Measured, { speeds, cpu }: Measured): void {
  all.speeds.push(...speeds);
  all.cpu.push(...cpu);
}

async function timed<T>({ process }: Server, measured: Measured, work: () => Promise<T>): Promise<T> {
  const [startedAt, cpu] = [performance.now(), cpuOf(process)];
  const result = await work();
  measured.speeds.push(megabytes / ((performance.now() - startedAt) / 1000));
  measured.cpu.push((cpuOf(process) - cpu) / megabytes);
  return result;
}

function rowOf(work: string, against: string, { bare, poproom }: Record<'bare' | 'poproom', Measured>): Row {
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
