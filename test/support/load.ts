/** Clients that use a service continuously during a fault, and record its responses. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type TrackedRoom, trackRoom } from './acknowledged.ts';
import type { ApiResponse, createApi } from './api.ts';
import type { ServerProcess } from './process.ts';

type Api = ReturnType<typeof createApi>;

export interface Load {
  readonly rooms: readonly TrackedRoom[];
  /** The number of successful requests so far. */
  readonly succeeded: () => number;
  readonly rejected: () => number;
  /** The duration of the slowest request so far. */
  readonly slowestMs: () => number;
  /** Waits for pending requests. Fails if a response was neither a success nor an allowed rejection. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  /** Clients use them in turn. */
  apis: readonly Api[];
  rooms: number;
  /** The number of writing clients, and of reading clients. */
  clients: number;
  /** The pause of a client between its requests. */
  pauseMs: number;
  /** Throws if the rejection is not allowed. */
  checkRejection: (response: ApiResponse) => void;
}

export async function startLoad({
  apis,
  rooms: roomCount,
  clients,
  pauseMs,
  checkRejection,
}: LoadOptions): Promise<Load> {
  const first = apis[0] as Api;
  const codes = await Promise.all(Array.from({ length: roomCount }, () => first.room()));
  const rooms = codes.map(trackRoom);
  let [succeeded, rejected, slowestMs, isStopped] = [0, 0, 0, false];

  async function timed(request: Promise<ApiResponse>): Promise<ApiResponse | undefined> {
    const startedAt = performance.now();
    const response = await request;
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    if (response.status === 200) {
      succeeded += 1;
      return response;
    }
    rejected += 1;
    checkRejection(response);
    return undefined;
  }

  async function write(api: Api, { code, sent, acknowledged }: TrackedRoom, content: string): Promise<void> {
    sent.add(content);
    const response = await timed(api.post(`/api/rooms/${code}/content`, { json: { content } }));
    if (response) acknowledged.set(versionOf(response), content);
  }

  /** A read returns at least the version that was acknowledged before. */
  async function read(api: Api, { code, acknowledged }: TrackedRoom): Promise<void> {
    const known = Math.max(...acknowledged.keys());
    const response = await timed(api.get(`/api/rooms/${code}/content`));
    if (response)
      assert.ok(
        versionOf(response) >= known,
        `read version ${versionOf(response)} after version ${known} was acknowledged`,
      );
  }

  async function untilStopped(act: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !isStopped; n++) {
      await act(n);
      await pause(pauseMs);
    }
  }

  const pick = <T>(from: readonly T[], n: number) => from[n % from.length] as T;
  const running = Array.from({ length: clients }, (_, i) => [
    untilStopped((n) => write(pick(apis, i + n), pick(rooms, i + n), `client ${i} text ${n}`)),
    untilStopped((n) => read(pick(apis, i + n), pick(rooms, i + 3 * n))),
  ]).flat();
  const done = Promise.all(running);
  // `stop` reports a failure. Until then, it must not end the process as an unhandled rejection.
  done.catch(() => undefined);

  return {
    rooms,
    succeeded: () => succeeded,
    rejected: () => rejected,
    slowestMs: () => slowestMs,
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

/** Sends requests to all servers in turn, and records the longest time to the first byte. */
export function askRepeatedly(
  servers: readonly Pick<ServerProcess, 'url'>[],
  path: string,
  check: (response: Response) => Promise<void>,
) {
  let [slowest, isStopped] = [0, false];
  async function run(): Promise<void> {
    for (let n = 0; !isStopped; n++) {
      const { url } = servers[n % servers.length] as ServerProcess;
      const since = performance.now();
      const response = await fetch(`${url}${path}`);
      slowest = Math.max(slowest, performance.now() - since);
      await check(response);
      await pause(50);
    }
  }
  const done = run();
  done.catch(() => undefined);
  return {
    slowest: () => slowest,
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

/** The slowest of these shows how busy the machine is. */
export const askWithoutStores = (servers: readonly Pick<ServerProcess, 'url'>[]) =>
  askRepeatedly(servers, '/livez', async (response) => {
    assert.equal(response.status, 200);
    await response.text();
  });

export const versionOf = ({ headers }: ApiResponse): number => Number(headers.get('etag')?.slice(1, -1));
