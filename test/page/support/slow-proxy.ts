/** A TCP proxy that adds latency. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Adds half of the latency in each direction. Returns its URL. */
export async function startSlowProxy(t: TestContext, port: number, latencyMs: number): Promise<string> {
  const sockets = new Set<Socket>();
  const listener = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    forward(near, far, latencyMs / 2);
    forward(far, near, latencyMs / 2);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

function forward(from: Socket, to: Socket, ms: number): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), ms));
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}
