/** A connection to the server that passes a number of bytes in one direction, and then none until it is resumed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface NarrowLine {
  readonly url: string;
  /** When nothing more passes. */
  readonly full: Promise<void>;
  release(): void;
  /** Closes all connections, with what was on its way. */
  cut(): void;
}

export async function openNarrowLine(
  t: TestContext,
  port: number,
  { up = Number.POSITIVE_INFINITY, down = Number.POSITIVE_INFINITY },
): Promise<NarrowLine> {
  const sockets = new Set<Socket>();
  const full = Promise.withResolvers<void>();
  const left = { up, down };

  const listener = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    pass(near, far, 'up');
    pass(far, near, 'down');
  });

  function pass(from: Socket, to: Socket, way: 'up' | 'down'): void {
    sockets.add(from);
    from.on('data', (chunk) => {
      to.write(chunk);
      left[way] -= chunk.length;
      if (left[way] > 0) return;
      from.pause();
      full.resolve();
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    cut();
    listener.close();
  });
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    full: full.promise,
    release() {
      left.up = left.down = Number.POSITIVE_INFINITY;
      for (const socket of sockets) socket.resume();
    },
    cut,
  };
}
