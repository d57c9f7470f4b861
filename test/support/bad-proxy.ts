/** A reverse proxy with chosen misconfigurations. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { listenOnFreePort } from './listen.ts';

export interface ProxyFaults {
  /** Replaces the Host header by the address of the server. */
  rewritesHost?: boolean;
  /** Does not forward WebSocket upgrades. */
  blocksUpgrade?: boolean;
  /** Accepts WebSocket upgrades, but never responds to them. */
  ignoresUpgrade?: boolean;
  /** Forwards a response only when it is complete. */
  buffersResponses?: boolean;
  /** Returns cached responses. */
  cachesResponses?: boolean;
  /** The maximum size of a request body. */
  maxBytes?: number;
  /** The difference between its clock and the real time. */
  clockSkewMs?: number;
  /** Whether it drops the connection instead of forwarding a response: before it, or within its body. */
  losesResponse?: (incoming: IncomingMessage) => 'whole' | 'body' | undefined;
  /** Adds a Via header. */
  addsVia?: boolean;
  /** Removes this from the start of paths. */
  removesPath?: string;
  /** Answers these paths itself. */
  refuses?: RegExp;
}

/** Returns its URL. `target` is the port of the server, or returns it if the server needs the URL for its start. */
export function startBadProxy(t: TestContext, target: number | (() => number), faults: ProxyFaults): Promise<string> {
  const portOf = () => (typeof target === 'number' ? target : target());
  const pathOf = ({ url = '' }: IncomingMessage) =>
    url.startsWith(`${faults.removesPath}/`) ? url.slice(faults.removesPath?.length) : url;
  const cache = new Map<string, { headers: IncomingMessage['headers']; body: Buffer }>();

  const server = createServer((incoming, response) => {
    const key = `${incoming.method} ${incoming.url}`;
    const cached = faults.cachesResponses ? cache.get(key) : undefined;
    if (cached) return void response.writeHead(200, cached.headers).end(cached.body);
    if (faults.refuses?.test(incoming.url ?? '')) return void response.writeHead(404).end('<h1>404 Not Found</h1>');
    const port = portOf();
    limit(incoming, response, faults.maxBytes ?? Number.POSITIVE_INFINITY);
    const { host, upgrade: _, ...headers } = incoming.headers;
    const forwardedHost = faults.rewritesHost ? `127.0.0.1:${port}` : host;
    const upstream = request({
      host: '127.0.0.1',
      port,
      method: incoming.method,
      path: pathOf(incoming),
      headers: { ...headers, host: forwardedHost },
    });
    const loss = faults.losesResponse?.(incoming);
    upstream.on('response', (upstreamResponse) => {
      if (loss) lose(upstreamResponse, response, loss);
      else forward(key, upstreamResponse, response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  });

  function forward(key: string, upstreamResponse: IncomingMessage, response: ServerResponse): void {
    if (response.headersSent) return;
    const headers = { ...upstreamResponse.headers, ...(faults.addsVia && { via: '1.1 bad-proxy' }) };
    if (faults.clockSkewMs !== undefined) headers.date = new Date(Date.now() + faults.clockSkewMs).toUTCString();
    const chunks: Buffer[] = [];
    upstreamResponse.on('data', (chunk: Buffer) => chunks.push(chunk));
    upstreamResponse.on('end', () => {
      const body = Buffer.concat(chunks);
      cache.set(key, { headers, body });
      if (faults.buffersResponses) response.writeHead(upstreamResponse.statusCode ?? 502, headers).end(body);
    });
    if (!faults.buffersResponses)
      upstreamResponse.pipe(response.writeHead(upstreamResponse.statusCode ?? 502, headers));
  }

  // Without a listener, Node handles an upgrade like any other request.
  if (faults.ignoresUpgrade) server.on('upgrade', (_, socket) => t.after(() => socket.destroy()));
  else if (!faults.blocksUpgrade)
    server.on('upgrade', (incoming, socket) => upgrade(incoming, socket, portOf(), pathOf(incoming)));
  return listenOnFreePort(t, server);
}

/** Like nginx, whose default limit is 1 MB. */
function limit(incoming: IncomingMessage, response: ServerResponse, maxBytes: number): void {
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes && !response.headersSent) response.writeHead(413).end('<h1>413 Request Entity Too Large</h1>');
  });
}

function upgrade(incoming: IncomingMessage, near: Duplex, port: number, path: string): void {
  const upstream = request({ host: '127.0.0.1', port, path, headers: incoming.headers });
  upstream.on('upgrade', (upstreamResponse, far) => {
    const lines = Object.entries(upstreamResponse.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    near.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
    far.on('error', () => near.destroy());
    far.pipe(near).pipe(far);
  });
  upstream.on('error', () => near.destroy());
  near.on('error', () => upstream.destroy());
  upstream.end();
}

/** The server has executed the request. */
function lose(upstreamResponse: IncomingMessage, response: ServerResponse, loss: 'whole' | 'body'): void {
  if (loss === 'whole') return void response.destroy();
  response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers);
  response.write('{', () => response.destroy());
}
