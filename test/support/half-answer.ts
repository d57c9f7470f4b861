/** A server that begins an answer and does not come to its end. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

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
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get answers() {
      return open.size;
    },
    cut() {
      for (const response of open) response.destroy();
    },
  };
}
