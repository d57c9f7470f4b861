/**
 * Attacks on a running server, as a process of its own: `node attacker.ts NAME PORT ROOM FILE_PATH SIZE`. It prints
 * `ready` when everything is sent that will be, goes on until it is killed, and prints figures on the way.
 */
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

async function join(n: number, options: object = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}/live`, { localAddress: addressOf(n) });
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
};

await attacks[name]?.();
console.log('ready');
await pause(600_000);
