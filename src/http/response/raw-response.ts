/** Writes a reply to a socket without a response object, and closes the connection. */
import type { Duplex } from 'node:stream';
import type { Reply } from './reply.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Time for the client to read the response. */
const lingerMs = 2000;

export function endWith(socket: Duplex, { status, headers, body }: Reply, common: Record<string, string>): void {
  const text = typeof body === 'string' ? body : '';
  const all = { ...common, Connection: 'close', ...headers, 'Content-Length': String(Buffer.byteLength(text)) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  closeSoon(socket);
}

/** Otherwise a client that keeps its side open would hold the connection forever. */
export function closeSoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
