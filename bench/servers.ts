/** The compared servers: Poproom as in production, and bare servers. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstResponse, serverCore, startOn, stop } from './processes.ts';

export const repositoryRoot = fileURLToPath(new URL('..', import.meta.url));

export interface Server {
  process: ChildProcess;
  port: number;
  url: string;
  /** Its environment variables. */
  settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface PoproomOptions {
  /** The folder of the checkout. Default: this one. */
  root?: string;
  port: number;
  settings?: Record<string, string>;
}

/** Limits that are counted as usual, but never reached. */
export const limits = {
  POPROOM_FREE_LIMIT: '1000000000',
  POPROOM_PRO_LIMIT: '1000000000',
  POPROOM_WORK_LIMIT: '0',
  POPROOM_CLIENT_MAX_BYTES: '900000GiB',
  POPROOM_MAX_CHANNELS_PER_CLIENT: '100000',
};

export async function startPoproom({ root = repositoryRoot, port, settings = {} }: PoproomOptions): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  const env = { ...limits, PORT: String(port), POPROOM_HOST: '127.0.0.1', POPROOM_DATA_DIR: folder, ...settings };
  const server = await start(startOn(serverCore, poproomCommand(root), env), port);
  return {
    ...server,
    settings: env,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Each live channel needs a file descriptor, so the limit is raised. */
export const poproomCommand = (root = repositoryRoot): string[] => [
  'sh',
  '-c',
  'ulimit -n 20000; exec "$@"',
  'sh',
  process.execPath,
  join(root, 'bin/poproom.js'),
  'serve',
];

export function startBare(script: string, port: number, ...args: string[]): Promise<Server> {
  const file = join(repositoryRoot, 'bench/bare', script);
  return start(startOn(serverCore, [process.execPath, file, String(port), ...args]), port);
}

async function start(process: ChildProcess, port: number): Promise<Server> {
  const failed = once(process, 'exit').then(() => assert.fail('The server stopped before its first response.'));
  await Promise.race([firstResponse(port, '/api/health'), failed]);
  return { process, port, url: `http://127.0.0.1:${port}`, settings: {}, stop: () => stop(process) };
}

export interface RoomOptions {
  pin?: string | undefined;
  history?: boolean;
  encryption?: object;
}

export async function createRoom({ url }: Pick<Server, 'url'>, options: RoomOptions = {}): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/rooms`, { method: 'POST', headers, body: JSON.stringify(options) });
  if (response.status !== 201) throw new Error(`Creating a room failed with status ${response.status}.`);
  return ((await response.json()) as { roomId: string }).roomId;
}

export async function createRooms(
  server: Pick<Server, 'url'>,
  count: number,
  options: RoomOptions = {},
): Promise<string[]> {
  const codes: string[] = [];
  for (let i = 0; i < count; i++) codes.push(await createRoom(server, options));
  return codes;
}

export async function writeText(url: string, content: string, pin?: string): Promise<void> {
  const headers = { 'content-type': 'application/json', ...(pin && { 'x-room-pin': pin }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ content }) });
  if (!response.ok) throw new Error(`A write failed with status ${response.status}.`);
  await response.text();
}
