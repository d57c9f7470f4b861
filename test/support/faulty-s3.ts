/** S3 stores that fail like real ones: they reject requests, stay silent, or disconnect. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Answers requests as the listener says. */
export async function startFaulty(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  t.after(() => server.closeAllConnections());
  return listen(t, server);
}

/** Leads to a real store, but the first connections are cut after so many bytes of theirs. */
export async function startCutting(t: TestContext, port: number, cuts: number, afterBytes: number) {
  let connections = 0;
  const endpoint = await listen(
    t,
    createServer((client) => {
      connections += 1;
      const store = connect(port, '127.0.0.1');
      joinEnds(t, client, store);
      if (connections <= cuts) cutAfter(client, afterBytes);
    }),
  );
  return { endpoint, connections: () => connections };
}

/** Where nothing listens any more. */
export async function abandonedEndpoint(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

export function s3Error(code: string, message: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}

function joinEnds(t: TestContext, client: Socket, store: Socket): void {
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

function cutAfter(client: Socket, bytes: number): void {
  let seen = 0;
  client.on('data', (chunk) => {
    seen += chunk.length;
    if (seen > bytes) client.resetAndDestroy();
  });
}

async function listen(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
