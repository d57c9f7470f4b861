/** A TCP proxy between a device and the server that simulates network faults. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from './process.ts';

export interface TcpProxy {
  /** The URL of the server through this proxy. */
  readonly url: string;
  /** Holds back data in both directions, also on new connections. They stay open. */
  pause(): void;
  /** Holds back only data from the server. */
  pauseResponses(): void;
  resume(): void;
  /** Open connections forward nothing more and stay open for the device. New connections work. */
  dropSilently(): void;
  /** Closes open connections and discards data in transit. */
  disconnect(): void;
  /** The number of connections so far. */
  readonly connections: number;
}

interface Pair {
  near: Socket;
  far: Socket;
  isDead: boolean;
}

export async function startTcpProxy(t: Cleanup, port: () => number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let paused = { up: false, down: false };
  let connections = 0;

  const listener = createServer((near) => {
    connections++;
    const pair = { near, far: connect(port(), '127.0.0.1'), isDead: false };
    pairs.add(pair);
    forward(pair, near, pair.far);
    forward(pair, pair.far, near);
    near.once('close', () => pairs.delete(pair));
    apply(pair);
  });

  function apply({ near, far, isDead }: Pair): void {
    if (isDead) return;
    if (paused.up) near.pause();
    else near.resume();
    if (paused.down) far.pause();
    else far.resume();
  }

  function set(next: typeof paused): void {
    paused = next;
    for (const pair of pairs) apply(pair);
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    for (const pair of pairs) destroy(pair);
    listener.close();
  });

  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    pause: () => set({ up: true, down: true }),
    pauseResponses: () => set({ up: false, down: true }),
    resume: () => set({ up: false, down: false }),
    dropSilently() {
      for (const pair of pairs) {
        pair.isDead = true;
        pair.near.pause();
        pair.far.destroy();
      }
    },
    disconnect() {
      for (const pair of pairs) destroy(pair);
    },
    get connections() {
      return connections;
    },
  };
}

function forward(pair: Pair, from: Socket, to: Socket): void {
  from.on('data', (chunk) => {
    if (!pair.isDead) to.write(chunk);
  });
  from.on('end', () => {
    if (!pair.isDead) to.end();
  });
  from.on('close', () => {
    if (!pair.isDead) to.destroy();
  });
  from.on('error', () => undefined);
}

function destroy(pair: Pair): void {
  pair.near.destroy();
  pair.far.destroy();
}
