/** A server that starts a response and does not finish it. */
import { createServer, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { listenOnFreePort } from './listen.ts';

export interface UnfinishedResponse {
  readonly url: string;
  /** How many responses it has started. */
  readonly responses: number;
  /** Closes all connections without the rest of the responses. */
  disconnect(): void;
}

export async function startUnfinishedResponse(t: TestContext, status = 200): Promise<UnfinishedResponse> {
  const open = new Set<ServerResponse>();
  const server = createServer((_, response) => {
    open.add(response);
    response.writeHead(status, { 'Content-Length': 100, ETag: '"1"' }).write('{"content":"');
  });
  return {
    url: await listenOnFreePort(t, server),
    get responses() {
      return open.size;
    },
    disconnect() {
      for (const response of open) response.destroy();
    },
  };
}
