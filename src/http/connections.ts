/** Opens the port of the server, and closes its connections when it stops. */
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** How often the stop looks for connections that are idle now. */
const idleCheckMs = 100;
export function listen(server: Server, { port, host }: { port: number; host: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Returns a function that closes idle connections immediately, and busy ones once they are idle or after some time. */
export function trackConnections(server: Server): (withinMs: number) => Promise<void> {
  // Node's own list of connections does not include WebSockets.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket.on('close', onClose)));
  // One function for all connections, to save memory of idle live channels.
  function onClose(this: Socket): void {
    sockets.delete(this);
  }
  return (withinMs) =>
    new Promise((resolve) => {
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, withinMs);
      // Also connections whose last response was not announced as the last, because it began before the stop.
      const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMs);
      server.close(() => {
        clearTimeout(deadline);
        clearInterval(idleCheck);
        resolve();
      });
      server.closeIdleConnections();
    });
}
