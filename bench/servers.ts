/** The servers that are compared: Poproom as people run it, and bare ones. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstAnswer, serverCore, startOn, stop } from './processes.ts';

export const ownRoot = fileURLToPath(new URL('..', import.meta.url));

export interface Server {
  process: ChildProcess;
  port: number;
  url: string;
  /** What it was started with. */
  settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface PoproomOptions {
  /** Of the checkout; this one when not said. */
  root?: string;
  port: number;
  settings?: Record<string, string>;
}

/** With limits that are counted like any others, but never reached. */
const limits = {
  POPROOM_FREE_LIMIT: '1000000000',
  POPROOM_CLIENT_MAX_BYTES: '900000GiB',
  POPROOM_MAX_CHANNELS_PER_CLIENT: '100000',
};

export async function startPoproom({ root = ownRoot, port, settings = {} }: PoproomOptions): Promise<Server> {
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

/** Each live channel is a file, on both sides. */
export const poproomCommand = (root = ownRoot): string[] => [
  'sh',
  '-c',
  'ulimit -n 20000; exec "$@"',
  'sh',
  process.execPath,
  join(root, 'bin/poproom.js'),
  'serve',
];

export function startBare(script: string, port: number, ...args: string[]): Promise<Server> {
  const file = join(ownRoot, 'bench/bare', script);
  return start(startOn(serverCore, [process.execPath, file, String(port), ...args]), port);
}

async function start(process: ChildProcess, port: number): Promise<Server> {
  await firstAnswer(port, '/api/health');
  return { process, port, url: `http://127.0.0.1:${port}`, settings: {}, stop: () => stop(process) };
}

export interface RoomCreation {
  pin?: string | undefined;
  history?: boolean;
}

export async function makeRoom({ url }: Pick<Server, 'url'>, creation: RoomCreation = {}): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/rooms`, { method: 'POST', headers, body: JSON.stringify(creation) });
  if (response.status !== 201) throw new Error(`A room was answered ${response.status}.`);
  return ((await response.json()) as { roomId: string }).roomId;
}

export async function makeRooms(server: Pick<Server, 'url'>, count: number, pin?: string): Promise<string[]> {
  const codes: string[] = [];
  for (let i = 0; i < count; i++) codes.push(await makeRoom(server, { pin }));
  return codes;
}

export async function writeText(url: string, content: string, pin?: string): Promise<void> {
  const headers = { 'content-type': 'application/json', ...(pin && { 'x-room-pin': pin }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ content }) });
  if (!response.ok) throw new Error(`A write was answered ${response.status}.`);
  await response.text();
}
