/** S3 stores that reject requests, do not respond, or disconnect. */
import { createServer as createHttpServer, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Responds to requests with the listener. */
export async function startFaultyS3(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  t.after(() => server.closeAllConnections());
  return listen(t, server);
}

/** Forwards to a real store. Resets the first `cuts` connections after `afterBytes` bytes. */
export async function startCuttingProxy(t: TestContext, port: number, cuts: number, afterBytes: number) {
  let connections = 0;
  const endpoint = await listen(
    t,
    createServer((client) => {
      connections += 1;
      const store = connect(port, '127.0.0.1');
      pipeBothWays(t, client, store);
      if (connections <= cuts) resetAfter(client, afterBytes);
    }),
  );
  return { endpoint, connections: () => connections };
}

/** An endpoint on which no server listens: systems do not give this port to programs that ask for a free one. */
export const unusedEndpoint = 'http://127.0.0.1:1';

export function s3Error(code: string, message: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}

function pipeBothWays(t: TestContext, client: Socket, store: Socket): void {
  for (const [end, other] of [
    [client, store],
    [store, client],
  ] as const) {
    end.on('error', () => undefined);
    end.once('close', () => other.destroy());
    end.pipe(other);
    t.after(() => end.destroy());
  }
}

function resetAfter(client: Socket, bytes: number): void {
  let received = 0;
  client.on('data', (chunk) => {
    received += chunk.length;
    if (received > bytes) client.resetAndDestroy();
  });
}

async function listen(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Passes a request on to a working store. */
export const forwardTo =
  (port: number): RequestListener =>
  (incoming, response) => {
    const { method, url: path, headers } = incoming;
    const forwarded = request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    // At the end of the test, the store stops before the server.
    forwarded.once('error', () => response.destroy());
    incoming.pipe(forwarded);
  };
