/** The network between a device and the server, with faults: slow, one-way, frozen or closed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Line {
  /** By which the server is reached over this line. */
  readonly url: string;
  /** Nothing passes in either direction; it waits, and nobody is told. New connections wait too. */
  hold(): void;
  /** Only what the server says waits. */
  holdAnswers(): void;
  release(): void;
  /** What is open now is dead without a word, with what was on its way; new connections are fine. */
  strand(): void;
  /** What is open now is closed, with what was on its way. */
  cut(): void;
  /** How many connections were ever made over it. */
  readonly connections: number;
}

interface Pair {
  near: Socket;
  far: Socket;
  isDead: boolean;
}

export async function openLine(t: TestContext, port: () => number): Promise<Line> {
  const pairs = new Set<Pair>();
  let held = { up: false, down: false };
  let connections = 0;

  const listener = createServer((near) => {
    connections++;
    const pair = { near, far: connect(port(), '127.0.0.1'), isDead: false };
    pairs.add(pair);
    join(pair, near, pair.far);
    join(pair, pair.far, near);
    near.once('close', () => pairs.delete(pair));
    apply(pair);
  });

  function apply({ near, far, isDead }: Pair): void {
    if (isDead) return;
    if (held.up) near.pause();
    else near.resume();
    if (held.down) far.pause();
    else far.resume();
  }

  function set(now: typeof held): void {
    held = now;
    for (const pair of pairs) apply(pair);
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    for (const pair of pairs) end(pair);
    listener.close();
  });

  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    hold: () => set({ up: true, down: true }),
    holdAnswers: () => set({ up: false, down: true }),
    release: () => set({ up: false, down: false }),
    strand() {
      for (const pair of pairs) {
        pair.isDead = true;
        pair.near.pause();
        pair.far.destroy();
      }
    },
    cut() {
      for (const pair of pairs) end(pair);
    },
    get connections() {
      return connections;
    },
  };
}

function join(pair: Pair, from: Socket, to: Socket): void {
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

function end(pair: Pair): void {
  pair.near.destroy();
  pair.far.destroy();
}
