/**
 * Attacks on a running server, as a process of its own: `node attacker.ts NAME PORT ROOM FILE_PATH SIZE`. It prints
 * `ready` when everything is sent that will be, goes on until it is killed, and prints figures on the way.
 */
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

const [name = '', port = '', room = '', filePath = '', size = '1'] = process.argv.slice(2);
const scale = Number(size);
const path = `/api/rooms/${room}`;
const MiB = 1024 * 1024;
const host = 'Host: localhost\r\n';

/** Loopback has many addresses; strangers come from several. */
const addressOf = (n: number) => `127.0.1.${1 + (n % 250)}`;

function openSocket(n: number): Socket {
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: addressOf(n) });
  return socket.on('error', () => undefined);
}

/** Sends and never reads. */
function sendUnread(n: number, bytes: string | Buffer): Promise<void> {
  const socket = openSocket(n).pause();
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
    socket.write(bytes, () => resolve());
    // Data that the server does not read stays in this buffer.
    setTimeout(resolve, 2000);
  });
}

const many = (count: number, work: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

const get = (target: string) => `GET ${target} HTTP/1.1\r\n${host}\r\n`;

function post(target: string, length: number, begun: string): string {
  const head = `POST ${target} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  return head + begun;
}

async function join(n: number, options: object = {}, target = path): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${target}/live`, { localAddress: addressOf(n) });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
  const first = new Promise((resolve) => socket.once('message', resolve).once('close', resolve));
  socket.send(JSON.stringify({ type: 'join', deviceId: `attacker-${n}`, ...options }));
  await first;
  return socket;
}

/** In one frame whose length says that more is to come. */
function beginFrame(socket: WebSocket, length: number, payload: Buffer): void {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  (socket as unknown as { _socket: Socket })._socket.write(Buffer.concat([head, payload]));
}

const agent = new Agent({ keepAlive: true, maxSockets: 10, localAddress: addressOf(0) });

function call(method: string, target: string, body: object): Promise<{ roomId?: string; version?: number }> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' };
    const sent = request({ agent, port, method, path: target, headers }, async (response) => {
      resolve(JSON.parse((await response.toArray()).join('')));
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

interface EditedRoom {
  path: string;
  length: number;
  version: number;
}

/** A room whose text was edited many times, at many places. */
async function editRoom(length: number, entries: number): Promise<EditedRoom> {
  const { roomId } = await call('POST', '/api/rooms', {});
  const edited = `/api/rooms/${roomId}`;
  await call('POST', `${edited}/content`, { content: 'x'.repeat(length) });
  let version = 1;
  for (let done = 0; done < entries; done += 10) {
    const answers = await many(10, (n) => call('PATCH', `${edited}/content`, { edits: scattered(length, done + n) }));
    version = Math.max(version, ...answers.map((answer) => (answer as { version?: number }).version ?? 0));
  }
  return { path: edited, length, version };
}

const scattered = (length: number, entry: number) =>
  Array.from({ length: 28 }, (_, n) => {
    const at = Math.floor(((n + (entry % 997) / 997) * length) / 28);
    return { from: at, to: at, insert: 'y' };
  });

/** Removes everything, based on a version that is as old as the log allows. */
function oldRemoval({ length, version }: EditedRoom, distance: number) {
  return { edits: [{ from: 0, to: length, insert: '' }], baseVersion: Math.max(2, version - distance) };
}

/** Sends as many as a channel may. */
async function sendRepeatedly(socket: WebSocket, message: object): Promise<void> {
  const text = JSON.stringify(message);
  for (let burst = 0; burst < 38 && socket.readyState === socket.OPEN; burst++) socket.send(text);
  while (socket.readyState === socket.OPEN) {
    await pause(55);
    if (socket.bufferedAmount < MiB) socket.send(text);
  }
}

/** How long the server is watched before the attacker reports that it is ready. */
const observedMs = scale > 1 ? 15_000 : 2000;
/** Entries of the log, and how old the edits are: at most 650 with the full size. */
const [entries, distance] = scale > 1 ? [1250, 650] : [300, 290];

const bomb = (part: string) => `[${part.repeat(Math.floor((6 * MiB) / part.length))}0]`;

const attacks: Record<string, () => Promise<void>> = {
  'pipelined pages': async () => {
    await many(30 * scale, (n) => sendUnread(0, get('/docs').repeat(1800 + (n % 2))));
  },
  'pipelined files': async () => {
    await many(10 * scale, () => sendUnread(0, get(filePath).repeat(800)));
  },
  'unread texts': async () => {
    await many(98 * scale, () => sendUnread(0, get(`${path}/content`)));
    await sendUnread(0, get(`${path}/content`).repeat(98));
  },
  'nested bodies': async () => {
    const bodies = [bomb('{},'), bomb('['), bomb('[],'), `{"a":${bomb('0,')}}`];
    await many(4 * scale, (n) => {
      const body = bodies[n % bodies.length] ?? '';
      return sendUnread(n, post(`${path}/content`, body.length, body));
    });
  },
  'nested messages': async () => {
    const messages = [bomb('{},'), bomb('[')];
    await many(4 * scale, async (n) => {
      const socket = await join(n);
      for (let sent = 0; sent < 10 && socket.readyState === socket.OPEN; sent++) {
        socket.send(messages[sent % 2] ?? '');
        await pause(50);
      }
    });
  },
  'withheld bodies': async () => {
    const body = Buffer.alloc(6 * MiB, 'x');
    await many(100 * scale, async (n) => {
      const target = n % 2 ? `${path}/content` : '/api/rooms/ZZZZZZ/content';
      const head = Buffer.from(post(target, body.length + 100, '{"content":"'));
      await sendUnread(0, Buffer.concat([head, body]));
    });
  },
  'unfinished messages': async () => {
    const payload = Buffer.alloc(6 * MiB, 'x');
    await many(20 * scale, async (n) => {
      const socket = await join(Math.floor(n / 20));
      if (socket.readyState === socket.OPEN) beginFrame(socket, payload.length + 100, payload);
    });
  },
  'large writes': async () => {
    const contents = ['a', 'b'].map((letter) => letter.repeat(MiB));
    void many(20 * scale, async (n) => {
      const socket = await join(Math.floor(n / 4), { edits: true });
      for (let sent = 0; ; sent++) {
        if (socket.readyState !== socket.OPEN) return;
        if (socket.bufferedAmount < 2 * MiB) {
          socket.send(JSON.stringify({ type: 'content', content: contents[(sent + n) % 2], baseVersion: sent }));
        }
        await pause(60);
      }
    });
    await pause(1000);
  },
  'unrelated texts': async () => {
    const contents = [1, 2].map((seed) => randomText(4000, seed));
    void many(20 * scale, async (n) => {
      const socket = await join(n, { edits: true }, `/api/rooms/${await createRoom()}`);
      for (let sent = 0; socket.readyState === socket.OPEN; sent++) {
        if (socket.bufferedAmount < MiB) {
          socket.send(JSON.stringify({ type: 'content', content: contents[sent % 2], baseVersion: sent }));
        }
        await pause(60);
      }
    });
    await pause(1000);
  },
  'old edits': async () => {
    const edited = await editRoom(900_000, entries);
    void sendRepeatedly(await join(0, { edits: true }, edited.path), { type: 'edit', ...oldRemoval(edited, distance) });
    await pause(observedMs);
  },
  'old edits on ten channels': async () => {
    const edited = await editRoom(900_000, entries);
    const message = { type: 'edit', ...oldRemoval(edited, distance) };
    void many(10, async (n) => sendRepeatedly(await join(0, { deviceId: `device-${n}` }, edited.path), message));
    await pause(observedMs);
  },
  'old edits in many rooms': async () => {
    void many(10, async () => {
      const edited = await editRoom(20_000, 200);
      await sendRepeatedly(await join(0, {}, edited.path), { type: 'edit', ...oldRemoval(edited, 190) });
    });
    await pause(2 * observedMs);
  },
  'old edits over HTTP': async () => {
    const edited = await editRoom(900_000, entries);
    void many(10, async () => {
      while (true) await call('PATCH', `${edited.path}/content`, oldRemoval(edited, distance));
    });
    await pause(observedMs);
  },
  'old edits of many ranges': async () => {
    const edited = await editRoom(900_000, entries);
    const edits = Array.from({ length: 1000 }, (_, n) => ({ from: 900 * n, to: 900 * n + 3, insert: 'zz' }));
    const message = { type: 'edit', ...oldRemoval(edited, distance), edits };
    void many(10, async (n) => sendRepeatedly(await join(0, { deviceId: `device-${n}` }, edited.path), message));
    await pause(observedMs);
  },
  'escaped texts': async () => {
    const { roomId } = await call('POST', '/api/rooms', {});
    const content = '\u0001'.repeat(MiB);
    void many(4, async (n) => {
      const message = { type: 'content', content: `${content.slice(1)}${n}`, baseVersion: 0 };
      await sendRepeatedly(await join(0, {}, `/api/rooms/${roomId}`), message);
    });
    await pause(observedMs);
  },
};

function randomText(length: number, seed: number): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return String.fromCharCode(0x21 + ((state >>> 16) % 94));
  }).join('');
}

async function createRoom(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/rooms`, { method: 'POST' });
  return ((await response.json()) as { roomId: string }).roomId;
}

await attacks[name]?.();
console.log('ready');
await pause(600_000);
