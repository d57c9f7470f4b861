/** Tells TLS from plain HTTP on the same port. Browsers that come without TLS are redirected; programs get an error. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { EndpointPath } from './base-path.ts';

/** The first byte of every TLS connection. */
const tlsHandshake = 0x16;
/** As long as Node waits for a TLS handshake. */
const firstByteTimeoutMs = 15_000;

type OnConnection = (socket: Socket) => void;

/** Passes a connection on to TLS only if it starts like one. */
export function answerPlainHttp(server: Server, endpointPath: EndpointPath): void {
  const startTls = server.listeners('connection') as OnConnection[];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    socket.on('error', () => socket.destroy());
    socket.setTimeout(firstByteTimeoutMs, () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.setTimeout(0).removeAllListeners('timeout');
      if (first[0] !== tlsHandshake) return void socket.end(replyTo(first.toString('latin1'), endpointPath));
      socket.pause().unshift(first);
      for (const start of startTls) start.call(server, socket);
    });
  });
}

/** Only what arrived first is read, which is the whole request of a browser. */
function replyTo(request: string, endpointPath: EndpointPath): string {
  const [, path] = /^(?:GET|HEAD) (\/[!-~]*) HTTP\/1\.[01]\r\n/.exec(request) ?? [];
  const [, host] = /\r\nHost: *([A-Za-z0-9.:[\]-]{1,260})\r\n/i.exec(request) ?? [];
  if (path === undefined || host === undefined || /^\/api(\/|$)/.test(endpointPath(path))) {
    return reply('400 Bad Request', [], 'This port requires HTTPS. Use https:// in the URL.');
  }
  return reply('308 Permanent Redirect', [`Location: https://${host}${path}`], 'Use HTTPS.');
}

function reply(status: string, headers: readonly string[], message: string): string {
  const body = `${JSON.stringify({ error: { code: 'VALIDATION_FAILED', message } })}\n`;
  const fixed = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
  return [`HTTP/1.1 ${status}`, ...fixed, 'Cache-Control: no-store', ...headers, '', body].join('\r\n');
}
