/** A proxy that records everything a client sends, and can change everything that the server sends. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { listenOnFreePort } from './listen.ts';

export interface TamperingProxy {
  /** The URL of the server through this proxy. */
  readonly url: string;
  /** The bytes of all requests and live messages, with URLs and headers. */
  readonly sent: string[];
  /** Changes the body of a response. By default nothing is changed. */
  tamper: (path: string, body: Buffer, status: number) => Buffer;
  /** Changes a live message to the client. */
  tamperMessage: (message: Record<string, unknown>) => Record<string, unknown>;
  /** Sends a live message to all clients. */
  inject(message: object): void;
}

export async function startTamperingProxy(t: TestContext, port: () => number): Promise<TamperingProxy> {
  const near = createServer((incoming, outgoing) => forward(incoming, outgoing));
  const sockets = new WebSocketServer({ server: near });
  const clients = new Set<WebSocket>();
  const proxy = {
    url: await listenOnFreePort(t, near),
    sent: [] as string[],
    tamper: (_path: string, body: Buffer, _status: number): Buffer => body,
    tamperMessage: (message: Record<string, unknown>) => message,
    inject(message: object): void {
      for (const client of clients) client.send(JSON.stringify(message));
    },
  };
  t.after(() => {
    for (const client of clients) client.terminate();
    sockets.close();
  });

  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url: path = '', headers } = incoming;
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      proxy.sent.push(`${method} ${path} ${JSON.stringify(headers)}`, body.toString('latin1'));
      const { connection, 'transfer-encoding': chunked, ...rest } = headers;
      const far = request({ port: port(), method, path, headers: { ...rest, 'content-length': body.length } });
      far.on('response', (response) => answer(path, response, outgoing));
      far.on('error', () => outgoing.destroy());
      far.end(body);
    });
  }

  function answer(path: string, response: IncomingMessage, outgoing: ServerResponse): void {
    const chunks: Buffer[] = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('end', () => {
      const status = response.statusCode ?? 500;
      const body = chunks.length > 0 ? proxy.tamper(path, Buffer.concat(chunks), status) : undefined;
      const { 'content-length': _length, 'transfer-encoding': _coding, ...headers } = response.headers;
      outgoing.writeHead(status, { ...headers, ...(body && { 'content-length': body.length }) });
      outgoing.end(body);
    });
  }

  sockets.on('connection', (client, incoming) => {
    const { 'sec-websocket-protocol': protocols } = incoming.headers;
    proxy.sent.push(`${incoming.url} ${JSON.stringify(incoming.headers)}`);
    const far = new WebSocket(`ws://127.0.0.1:${port()}${incoming.url}`, protocols?.split(/,\s*/) ?? []);
    clients.add(client);
    const early: string[] = [];
    client.on('message', (data) => {
      proxy.sent.push(String(data));
      if (far.readyState === WebSocket.OPEN) far.send(String(data));
      else early.push(String(data));
    });
    far.on('open', () => {
      for (const data of early) far.send(data);
    });
    far.on('message', (data) => client.send(JSON.stringify(proxy.tamperMessage(JSON.parse(String(data))))));
    far.on('close', (code, reason) => client.close(code === 1006 ? 1011 : code, reason));
    far.on('error', () => client.terminate());
    client.on('close', () => {
      clients.delete(client);
      far.close();
    });
  });
  return proxy;
}

/** Changes the JSON of responses whose path ends like this. */
export const tamperJson =
  (end: string, change: (json: Record<string, unknown>) => unknown): TamperingProxy['tamper'] =>
  (path, body) =>
    path.endsWith(end) ? Buffer.from(JSON.stringify(change(JSON.parse(String(body))))) : body;
