/** Writes a reply on a bare socket, where no response object is to be had. */
import type { Duplex } from 'node:stream';
import type { Reply } from './reply.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

export function endWith(socket: Duplex, { status, headers, body }: Reply, common: Record<string, string>): void {
  const text = typeof body === 'string' ? body : '';
  const all = { ...common, ...headers, 'Content-Length': String(Buffer.byteLength(text)), Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
}
