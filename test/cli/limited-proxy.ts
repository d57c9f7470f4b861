/** A TCP proxy that forwards a number of bytes in each direction, and then pauses until it is resumed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface LimitedProxy {
  readonly url: string;
  /** Resolves when a limit is reached. */
  readonly paused: Promise<void>;
  /** Number of bytes that were sent to the server. */
  readonly sent: number;
  /** Whether no connection is open. */
  readonly isClosed: boolean;
  resume(): void;
  /** Closes all connections and discards data in transit. */
  disconnect(): void;
}

export async function startLimitedProxy(
  t: TestContext,
  port: number,
  { up = Number.POSITIVE_INFINITY, down = Number.POSITIVE_INFINITY },
): Promise<LimitedProxy> {
  const sockets = new Set<Socket>();
  const paused = Promise.withResolvers<void>();
  const left = { up, down };
  let sent = 0;

  const listener = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    forward(near, far, 'up');
    forward(far, near, 'down');
  });

  function forward(from: Socket, to: Socket, way: 'up' | 'down'): void {
    sockets.add(from);
    from.on('data', (chunk) => {
      to.write(chunk);
      if (way === 'up') sent += chunk.length;
      left[way] -= chunk.length;
      if (left[way] > 0) return;
      from.pause();
      paused.resolve();
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      // Data that has arrived is still delivered.
      to.end();
    });
  }

  function disconnect(): void {
    for (const socket of sockets) socket.destroy();
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    disconnect();
    listener.close();
  });
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    paused: paused.promise,
    get isClosed() {
      return sockets.size === 0;
    },
    get sent() {
      return sent;
    },
    resume() {
      left.up = left.down = Number.POSITIVE_INFINITY;
      for (const socket of sockets) socket.resume();
    },
    disconnect,
  };
}
