/** A reverse proxy with chosen misconfigurations. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { listening } from './listening.ts';

export interface Faults {
  /** It puts the address of the server in place of the one that people typed. */
  ownHost?: boolean;
  /** It lets no connection become a WebSocket. */
  noUpgrade?: boolean;
  /** It takes those that would become one, and says nothing. */
  holdsUpgrade?: boolean;
  /** It waits for the end of an answer before it hands on the first byte. */
  buffers?: boolean;
  /** It gives out an answer that it has again. */
  caches?: boolean;
  /** Of what is sent to it. */
  mostBytes?: number;
  /** What its clock is off by. */
  aheadMs?: number;
  /** It says that it is there. */
  via?: boolean;
}

/** Answers its address. */
export function startBadProxy(t: TestContext, port: number, faults: Faults): Promise<string> {
  const kept = new Map<string, { headers: IncomingMessage['headers']; body: Buffer }>();

  const server = createServer((asked, reply) => {
    const name = `${asked.method} ${asked.url}`;
    const known = faults.caches ? kept.get(name) : undefined;
    if (known) return void reply.writeHead(200, known.headers).end(known.body);
    limit(asked, reply, faults.mostBytes ?? Number.POSITIVE_INFINITY);
    const { host, upgrade: _, ...headers } = asked.headers;
    const own = faults.ownHost ? `127.0.0.1:${port}` : host;
    const onward = request({ port, method: asked.method, path: asked.url, headers: { ...headers, host: own } });
    onward.on('response', (answer) => handOn(name, answer, reply));
    onward.on('error', () => reply.destroy());
    reply.on('close', () => onward.destroy());
    asked.pipe(onward);
  });

  function handOn(name: string, answer: IncomingMessage, reply: ServerResponse): void {
    if (reply.headersSent) return;
    const headers = { ...answer.headers, ...(faults.via && { via: '1.1 bad-proxy' }) };
    if (faults.aheadMs !== undefined) headers.date = new Date(Date.now() + faults.aheadMs).toUTCString();
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => {
      const body = Buffer.concat(chunks);
      kept.set(name, { headers, body });
      if (faults.buffers) reply.writeHead(answer.statusCode ?? 502, headers).end(body);
    });
    if (!faults.buffers) answer.pipe(reply.writeHead(answer.statusCode ?? 502, headers));
  }

  // Without a listener, Node serves those who ask for an upgrade like all others.
  if (faults.holdsUpgrade) server.on('upgrade', (_, socket) => t.after(() => socket.destroy()));
  else if (!faults.noUpgrade) server.on('upgrade', (asked, socket) => upgrade(asked, socket, port));
  return listening(t, server);
}

/** As nginx does by itself at 1 MB. */
function limit(asked: IncomingMessage, reply: ServerResponse, mostBytes: number): void {
  let bytes = 0;
  asked.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes && !reply.headersSent) reply.writeHead(413).end('<h1>413 Request Entity Too Large</h1>');
  });
}

function upgrade(asked: IncomingMessage, near: Duplex, port: number): void {
  const onward = request({ port, path: asked.url, headers: asked.headers });
  onward.on('upgrade', (answer, far) => {
    const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    near.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
    far.on('error', () => near.destroy());
    far.pipe(near).pipe(far);
  });
  near.on('error', () => onward.destroy());
  onward.end();
}
