/**
 * A malicious server: a proxy before a real one that records all that clients send, and can change, answer, drop or invent
 * requests, responses and live messages. By default it changes nothing.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import type { FileEntry } from '../../src/protocol/types.ts';
import { listenOnFreePort } from './listen.ts';

export interface ProxiedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface ProxiedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The `Content-Length`, if it is not that of the body. The connection is closed after the body. */
  claimedLength?: number;
}

export type LiveMessage = Record<string, unknown>;

export interface MaliciousServer {
  readonly url: string;
  /** The bytes of all requests and live messages, with URLs and headers. */
  readonly sent: string[];
  /** Answers a request itself, without the real server. The request may be changed in place. */
  answer: (request: ProxiedRequest) => ProxiedResponse | undefined;
  /** Changes the body of a response. */
  tamper: (path: string, body: Buffer, status: number) => Buffer;
  /** Changes a whole response, after `tamper`. */
  tamperResponse: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse;
  /** Changes a live message to the client. Without a result, the client does not receive it. */
  tamperMessage: (message: LiveMessage) => LiveMessage | undefined;
  /** Changes a live message to the real server, as `tamperMessage`. */
  tamperSentMessage: (message: LiveMessage) => LiveMessage | undefined;
  /** Sends a live message to all clients. */
  inject(message: object): void;
  /** Closes the live channels of all clients. */
  closeChannels(code: number, reason?: string): void;
}

/** The port of the real server may change over time. */
export async function startMaliciousServer(t: TestContext, port: () => number): Promise<MaliciousServer> {
  const near = createServer((incoming, outgoing) => void forward(incoming, outgoing));
  const sockets = new WebSocketServer({ server: near });
  const clients = new Set<WebSocket>();
  const server: MaliciousServer = {
    url: await listenOnFreePort(t, near),
    sent: [],
    answer: () => undefined,
    tamper: (_path, body) => body,
    tamperResponse: (response) => response,
    tamperMessage: (message) => message,
    tamperSentMessage: (message) => message,
    inject(message) {
      for (const client of clients) client.send(JSON.stringify(message));
    },
    closeChannels(code, reason) {
      for (const client of clients) client.close(code, reason);
    },
  };
  t.after(() => {
    for (const client of clients) client.terminate();
    sockets.close();
  });

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '', headers } = incoming;
    try {
      const received = { method, path, headers: { ...headers }, body: await bytesOf(incoming) };
      server.sent.push(`${method} ${path} ${JSON.stringify(headers)}`, received.body.toString('latin1'));
      respond(outgoing, server.answer(received) ?? (await ask(received)), method);
    } catch {
      outgoing.destroy();
    }
  }

  async function ask(asked: ProxiedRequest): Promise<ProxiedResponse> {
    // Compressed responses could not be changed.
    const { connection, 'transfer-encoding': chunked, 'accept-encoding': codings, ...headers } = asked.headers;
    const { method, path, body } = asked;
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const to = { host: '127.0.0.1', port: port(), method, path };
      const far = request({ ...to, headers: { ...headers, 'content-length': body.length } });
      far.on('response', resolve).on('error', reject).end(body);
    });
    const status = incoming.statusCode ?? 500;
    const received = await bytesOf(incoming);
    const tampered = received.length > 0 ? server.tamper(path, received, status) : received;
    return server.tamperResponse({ status, headers: { ...incoming.headers }, body: tampered }, asked);
  }

  sockets.on('connection', (client, incoming) => {
    const { 'sec-websocket-protocol': protocols } = incoming.headers;
    server.sent.push(`${incoming.url} ${JSON.stringify(incoming.headers)}`);
    const far = new WebSocket(`ws://127.0.0.1:${port()}${incoming.url}`, protocols?.split(/,\s*/) ?? []);
    clients.add(client);
    const early: string[] = [];
    client.on('message', (data) => {
      server.sent.push(String(data));
      const message = server.tamperSentMessage(JSON.parse(String(data)));
      if (!message) return;
      if (far.readyState === WebSocket.OPEN) far.send(JSON.stringify(message));
      else early.push(JSON.stringify(message));
    });
    far.on('open', () => {
      for (const data of early) far.send(data);
    });
    far.on('message', (data) => {
      const message = server.tamperMessage(JSON.parse(String(data)));
      if (message) client.send(JSON.stringify(message));
    });
    far.on('close', (code, reason) => client.close(code === 1006 ? 1011 : code, reason));
    far.on('error', () => client.terminate());
    client.on('close', () => {
      clients.delete(client);
      far.close();
    });
  });
  return server;
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function respond(outgoing: ServerResponse, response: ProxiedResponse, method: string): void {
  const { status, headers, body, claimedLength } = response;
  const { 'content-length': length, 'transfer-encoding': coding, ...rest } = headers;
  const isBodiless = method === 'HEAD' || status === 204 || status === 304;
  outgoing.writeHead(status, {
    ...rest,
    ...(isBodiless ? length && { 'content-length': length } : { 'content-length': claimedLength ?? body.length }),
  });
  if (claimedLength === undefined) outgoing.end(isBodiless ? undefined : body);
  else outgoing.write(body, () => outgoing.socket?.end());
}

/** Changes the JSON of responses whose path ends like this. */
export const tamperJson =
  (end: string, change: (json: Record<string, unknown>) => unknown): MaliciousServer['tamper'] =>
  (path, body) =>
    path.endsWith(end) ? Buffer.from(JSON.stringify(change(JSON.parse(String(body))))) : body;

/** An invented JSON response. */
export const jsonResponse = (status: number, json: unknown): ProxiedResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: Buffer.from(JSON.stringify(json)),
});

/** Confirms the sealed edits of clients without storing them, and hides the texts and edits of others from them. */
export function dropSealedEdits(server: MaliciousServer): void {
  const timestamp = new Date().toISOString();
  server.tamperSentMessage = (message) => {
    if (message.type !== 'sealed-edit') return message;
    const version = Number(message.baseVersion) + 1;
    setImmediate(() => server.inject({ type: 'written', seq: 98, ref: message.ref, version, timestamp }));
    return undefined;
  };
  server.tamperMessage = (message) =>
    message.type === 'sealed-edit' || message.type === 'content' ? undefined : message;
}

/** Changes the lists of files in responses and live messages. */
export function tamperFileLists(server: MaliciousServer, change: (files: FileEntry[]) => FileEntry[]): void {
  server.tamper = tamperJson('/files', ({ files }) => ({ files: change(files as FileEntry[]) }));
  server.tamperMessage = (message) =>
    message.type === 'snapshot' ? { ...message, files: change(message.files as FileEntry[]) } : message;
}

/** The same file with an id of this digit. */
export function copyOf(file: FileEntry, digit: string): FileEntry {
  const fileId = digit.repeat(32);
  return { ...file, fileId, fileUrl: file.fileUrl.replace(file.fileId, fileId) };
}
