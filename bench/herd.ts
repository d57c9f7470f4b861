/**
 * Thousands of clients on the live channel that reconnect as the SDK does: with its delays, its check of the server before
 * another attempt, and resume tokens. The SDK itself would need the memory of a browser for so many.
 */
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { offlineError } from '../src/client/error.ts';
import { spreadDelay } from '../src/client/retry.ts';
import type { RoomCode } from '../src/core/room-code.ts';

interface Client {
  /** Of the loopback network. One address may not use most of the descriptors of a server. */
  localAddress: string;
  room: RoomCode;
  socket: WebSocket | undefined;
  isJoined: boolean;
  failures: number;
  /** Undefined until the first heartbeat. */
  spreadMs: number | undefined;
  token: string | undefined;
}

export interface Herd {
  /** Resolves when all clients have joined. */
  joined(): Promise<void>;
  /** Resolves when all clients know over which time they should spread. */
  hinted(): Promise<void>;
  close(): void;
}

/** So many clients join at the same time at the start. */
const batch = 50;

export function openHerd(port: number, rooms: readonly RoomCode[], size: number): Herd {
  const clients = Array.from({ length: size }, (_, n) => newClient(n, rooms[n % rooms.length] as RoomCode));
  let isClosed = false;

  async function joinAll(): Promise<void> {
    for (let at = 0; at < size; at += batch) {
      const some = clients.slice(at, at + batch);
      for (const client of some) connect(client);
      while (some.some(({ isJoined }) => !isJoined)) await pause(10);
    }
  }

  function connect(client: Client): void {
    const protocols = ['poproom', ...(client.token ? [`resume.${client.token}`] : [])];
    const url = `ws://127.0.0.1:${port}/api/rooms/${client.room}/live`;
    const socket = new WebSocket(url, protocols, {
      ...{ perMessageDeflate: false, handshakeTimeout: 8_000 },
      localAddress: client.localAddress,
    });
    client.socket = socket;
    socket.on('error', () => undefined);
    socket.once('open', () => socket.send('{"type":"join","deviceChanges":true,"edits":true}'));
    socket.on('message', (data) => onMessage(client, String(data)));
    socket.once('close', () => void onClose(client));
  }

  async function onClose(client: Client): Promise<void> {
    if (isClosed) return;
    client.failures = client.isJoined ? 0 : client.failures + 1;
    client.isJoined = false;
    await pause(spreadDelay(offlineError(), client.failures, client.spreadMs ?? 0));
    if (client.failures === 0 || (await isAlive(port))) connect(client);
    else await onClose(client);
  }

  setInterval(
    () =>
      console.error(
        new Date().toISOString(),
        clients.filter((c) => c.isJoined).length,
        clients.filter((c) => c.spreadMs !== undefined).length,
      ),
    3000,
  ).unref();
  void joinAll();
  return {
    async joined() {
      while (clients.some(({ isJoined }) => !isJoined)) await pause(50);
    },
    async hinted() {
      while (clients.some(({ spreadMs }) => spreadMs === undefined)) await pause(250);
    },
    close() {
      isClosed = true;
      for (const { socket } of clients) socket?.terminate();
    },
  };
}

const newClient = (n: number, room: RoomCode): Client => ({
  localAddress: `127.1.${Math.floor(n / 10) >> 8}.${Math.floor(n / 10) & 255}`,
  ...{ room, socket: undefined, isJoined: false, failures: 0 },
  ...{ spreadMs: undefined, token: undefined },
});

function onMessage(client: Client, text: string): void {
  const message = JSON.parse(text) as { type: string; resumeToken?: string; reconnectWithin?: number };
  client.isJoined = true;
  client.token = message.resumeToken ?? client.token;
  if (message.type === 'heartbeat') client.spreadMs = message.reconnectWithin ?? 0;
}

function isAlive(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/livez', timeout: 8_000 }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode === 200));
    }).once('error', () => resolve(false));
  });
}
