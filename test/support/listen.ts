/** Servers on free ports. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import type { TestContext } from 'node:test';

/** Starts an HTTP server for the duration of a test, and returns its URL. */
export async function listenOnFreePort(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Outgoing connections of any process take ports above these, so a program that restarts finds its port still free.
 * The servers of a Redis Cluster also listen on their port plus 10,000. Browsers and `fetch` refuse port 10080.
 */
const [lowestPort, portCount] = [11_000, 10_000];
const given = new Set<number>();

/** For another program, or for a server of the test. It can listen on the port again after a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowestPort + randomInt(portCount);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
