/** The process of the slow clients: starts all requests, and continues them as long as the server allows. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ProcessMessage, SlowClientsOptions } from './slow-clients.ts';

/** The number of connections to open concurrently. The accept queue of the server has 511 places. */
const batchSize = 200;
const dripEveryMs = 10;

process.once('message', (options: SlowClientsOptions) => void connectAll(options));
// The test may have been killed.
process.once('disconnect', () => process.exit());

const report = (message: ProcessMessage) => void process.send?.(message);

async function connectAll({ port, size, requestStarts, then }: SlowClientsOptions): Promise<void> {
  const sockets: Socket[] = [];
  for (let i = 0; i < size; i += batchSize) {
    const some = Array.from(
      { length: Math.min(batchSize, size - i) },
      (_, n) => requestStarts[(i + n) % requestStarts.length],
    );
    sockets.push(...(await Promise.all(some.map((beginning) => connectClient(port, beginning as string)))));
  }
  if (then === 'drips') drip(sockets);
  report('started');
}

async function connectClient(port: number, beginning: string): Promise<Socket> {
  // Half-open, because a hostile client does not close its side.
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let response = '';
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) report({ response });
    hasEnded = true;
  };
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    response += bytes.toString('latin1');
  });
  // A half-open socket emits `end` but not `close`. After a reset, it emits only `close`.
  socket.once('end', end).once('close', end);
  await once(socket, 'connect');
  socket.write(beginning);
  return socket;
}

/** Sends to a few clients per tick, as independent clients would. */
function drip(sockets: readonly Socket[]): void {
  const perTick = Math.ceil((sockets.length * dripEveryMs) / 1000);
  let next = 0;
  setInterval(() => {
    for (let n = 0; n < perTick; n++, next++) {
      const socket = sockets[next % sockets.length] as Socket;
      if (socket.writable) socket.write('x');
    }
  }, dripEveryMs);
}
