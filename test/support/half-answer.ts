/** A server that starts a response and does not finish it. */
import { createServer, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { listening } from './listening.ts';

export interface HalfAnswer {
  readonly url: string;
  /** How many it has begun. */
  readonly answers: number;
  /** Breaks the line of those who wait for the rest. */
  cut(): void;
}

export async function startHalfAnswer(t: TestContext, status = 200): Promise<HalfAnswer> {
  const open = new Set<ServerResponse>();
  const server = createServer((_, response) => {
    open.add(response);
    response.writeHead(status, { 'Content-Length': 100, ETag: '"1"' }).write('{"content":"');
  });
  return {
    url: await listening(t, server),
    get answers() {
      return open.size;
    },
    cut() {
      for (const response of open) response.destroy();
    },
  };
}
