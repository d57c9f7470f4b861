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
  /** Resets open connections on both sides. */
  reset(): void;
  /** Accepts and discards data in these directions, also on new connections. `isChosen` limits it to some connections. */
  swallow(directions: Directions, isChosen?: () => boolean): void;
  /** Ends `swallow`, and resets the connections that lost data. */
  heal(): void;
  /** The number of connections so far. */
  readonly connections: number;
}

/** `up` is from the device to the server. */
export interface Directions {
  up: boolean;
  down: boolean;
}

interface Pair {
  near: Socket;
  far: Socket;
  isDead: boolean;
  swallows: Directions;
  /** The directions that lost data or the end of the connection, so that nothing after it may arrive. */
  gaps: Directions;
}

const neither: Directions = { up: false, down: false };

export async function startTcpProxy(t: Cleanup, port: () => number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let paused = neither;
  let swallowsOnNew = () => neither;
  let connections = 0;

  const listener = createServer((near) => {
    connections++;
    const far = connect(port(), '127.0.0.1');
    const pair = { near, far, isDead: false, swallows: swallowsOnNew(), gaps: { ...neither } };
    pairs.add(pair);
    forward(pair, 'up');
    forward(pair, 'down');
    // With a gap, the server learns nothing of the end until `heal`.
    near.once('close', () => pair.gaps.up || pairs.delete(pair));
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
    resume: () => set(neither),
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
    reset() {
      for (const pair of pairs) reset(pair);
    },
    swallow(directions, isChosen = () => true) {
      swallowsOnNew = () => (isChosen() ? directions : neither);
      for (const pair of pairs) pair.swallows = swallowsOnNew();
    },
    heal() {
      swallowsOnNew = () => neither;
      for (const pair of pairs) {
        pair.swallows = neither;
        if (!pair.gaps.up && !pair.gaps.down) continue;
        reset(pair);
        pairs.delete(pair);
      }
    },
    get connections() {
      return connections;
    },
  };
}

function forward(pair: Pair, direction: keyof Directions): void {
  const [from, to] = direction === 'up' ? [pair.near, pair.far] : [pair.far, pair.near];
  const isLost = () => {
    pair.gaps[direction] ||= pair.swallows[direction];
    return pair.gaps[direction] || pair.isDead;
  };
  from.on('data', (chunk) => {
    if (!isLost()) to.write(chunk);
  });
  from.on('end', () => {
    if (!isLost()) to.end();
  });
  from.on('close', () => {
    if (!isLost()) to.destroy();
  });
  from.on('error', () => undefined);
}

function destroy(pair: Pair): void {
  pair.near.destroy();
  pair.far.destroy();
}

function reset(pair: Pair): void {
  pair.near.resetAndDestroy();
  pair.far.resetAndDestroy();
}
