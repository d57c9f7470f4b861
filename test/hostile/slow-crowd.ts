/** Many clients that begin a request and then send a byte now and then, for as long as one lets them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface SlowCrowd {
  /** How many the server has closed. */
  closed(): number;
  /** The first lines of the answers that came. */
  answers(): string[];
  leave(): void;
}

/** Connections are made so many at a time: a listening socket has a queue of 511. */
const atOnce = 200;
const dripEveryMs = 10;

/** They begin in these ways in turn, and go on with a letter every second. */
export async function openSlowCrowd(
  t: TestContext,
  { port, size, beginnings }: { port: number; size: number; beginnings: readonly string[] },
): Promise<SlowCrowd> {
  const sockets: Socket[] = [];
  const answers = new Map<Socket, string>();
  let closed = 0;
  const leave = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(leave);

  async function join(i: number): Promise<void> {
    // Half open, so that the server's answer does not end it: a hostile client stays.
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => answers.set(socket, (answers.get(socket) ?? '') + bytes.toString('latin1')));
    socket.once('close', () => {
      closed += 1;
    });
    await once(socket, 'connect');
    socket.write(beginnings[i % beginnings.length] as string);
    sockets.push(socket);
  }

  for (let i = 0; i < size; i += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, size - i) }, (_, n) => join(i + n)));
  }
  const stopDripping = drip(sockets);
  t.after(stopDripping);

  return {
    closed: () => closed,
    answers: () => [...answers.values()].map((answer) => answer.split('\r\n')[0] as string),
    leave() {
      stopDripping();
      leave();
    },
  };
}

/** A few at a time: all at once, they would keep their own process too busy to notice how others are served. */
function drip(sockets: readonly Socket[]): () => void {
  const aTime = Math.ceil((sockets.length * dripEveryMs) / 1000);
  let next = 0;
  const timer = setInterval(() => {
    for (let n = 0; n < aTime; n++, next++) {
      const socket = sockets[next % sockets.length] as Socket;
      if (socket.writable) socket.write('x');
    }
  }, dripEveryMs);
  return () => clearInterval(timer);
}
