/** The process of the slow clients: starts all requests, and continues them as long as the server allows. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Crowd, Told } from './slow-crowd.ts';

/** Connections are made so many at a time: a listening socket has a queue of 511. */
const atOnce = 200;
const dripEveryMs = 10;

process.once('message', (crowd: Crowd) => void gather(crowd));
// The test may have been killed.
process.once('disconnect', () => process.exit());

const tell = (told: Told) => void process.send?.(told);

async function gather({ port, size, beginnings, then }: Crowd): Promise<void> {
  const sockets: Socket[] = [];
  for (let i = 0; i < size; i += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, size - i) }, (_, n) => beginnings[(i + n) % beginnings.length]);
    sockets.push(...(await Promise.all(some.map((beginning) => join(port, beginning as string)))));
  }
  if (then === 'drips') drip(sockets);
  tell('all have begun');
}

async function join(port: number, beginning: string): Promise<Socket> {
  // Half open, so that the server's end is not its own: a hostile client stays.
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let answered = '';
  let isOver = false;
  const end = () => {
    if (!isOver) tell({ answered });
    isOver = true;
  };
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    answered += bytes.toString('latin1');
  });
  // A silent one that stays never hears more than the end; one whose connection is reset does not hear that.
  socket.once('end', end).once('close', end);
  await once(socket, 'connect');
  socket.write(beginning);
  return socket;
}

/** A few at a time, as those who do not know of each other do. */
function drip(sockets: readonly Socket[]): void {
  const aTime = Math.ceil((sockets.length * dripEveryMs) / 1000);
  let next = 0;
  setInterval(() => {
    for (let n = 0; n < aTime; n++, next++) {
      const socket = sockets[next % sockets.length] as Socket;
      if (socket.writable) socket.write('x');
    }
  }, dripEveryMs);
}
