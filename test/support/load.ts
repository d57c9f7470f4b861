/** Clients that use a service continuously during a fault, and record its responses. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type RoomMemory, rememberRoom } from './answered.ts';
import type { Answer, createApi } from './api.ts';

type Api = ReturnType<typeof createApi>;

export interface Load {
  readonly rooms: readonly RoomMemory[];
  /** How many requests were answered as one would wish, so far. */
  readonly granted: () => number;
  readonly refused: () => number;
  /** Of all requests, in milliseconds. */
  readonly slowest: () => number;
  /** Lets those under way come to their end. Fails where an answer was neither a success nor an allowed refusal. */
  stop(): Promise<void>;
}

export interface LoadPlan {
  /** Clients take them in turns. */
  apis: readonly Api[];
  rooms: number;
  /** So many write, and as many read. */
  clients: number;
  /** Of each client, between its requests. */
  pauseMs: number;
  /** Fails for an answer that may not be. */
  checkRefusal: (answer: Answer) => void;
}

export async function startLoad({ apis, rooms: roomCount, clients, pauseMs, checkRefusal }: LoadPlan): Promise<Load> {
  const first = apis[0] as Api;
  const codes = await Promise.all(Array.from({ length: roomCount }, () => first.room()));
  const rooms = codes.map(rememberRoom);
  let [granted, refused, slowest, stopped] = [0, 0, 0, false];

  async function timed(request: Promise<Answer>): Promise<Answer | undefined> {
    const since = performance.now();
    const answer = await request;
    slowest = Math.max(slowest, performance.now() - since);
    if (answer.status === 200) {
      granted += 1;
      return answer;
    }
    refused += 1;
    checkRefusal(answer);
    return undefined;
  }

  async function write(api: Api, { code, sent, answered }: RoomMemory, content: string): Promise<void> {
    sent.add(content);
    const answer = await timed(api.post(`/api/rooms/${code}/content`, { json: { content } }));
    if (answer) answered.set(versionOf(answer), content);
  }

  /** Whoever reads after an answer sees at least what was answered. */
  async function read(api: Api, { code, answered }: RoomMemory): Promise<void> {
    const known = Math.max(...answered.keys());
    const answer = await timed(api.get(`/api/rooms/${code}/content`));
    if (answer) assert.ok(versionOf(answer) >= known, `version ${known} was answered, ${versionOf(answer)} is read`);
  }

  async function untilStopped(act: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !stopped; n++) {
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
  // It is looked at when the load is stopped; until then it must not end the process.
  done.catch(() => undefined);

  return {
    rooms,
    granted: () => granted,
    refused: () => refused,
    slowest: () => slowest,
    async stop() {
      stopped = true;
      await done;
    },
  };
}

export const versionOf = ({ headers }: Answer): number => Number(headers.get('etag')?.slice(1, -1));
