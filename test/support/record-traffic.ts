/** Records the requests and live messages that reach a server of this process, from any client. */
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Secrets } from './secrets.ts';

const requestChannel = 'http.server.request.start';
/** `ws` has no diagnostics channel, so `publishMessages` adds one. */
const messageChannel = 'test.ws.message.received';

/** The maximum to record of a body that is not JSON. A file is near its start. */
const maxBytes = 64 * 1024;

/** Records the secrets in all requests and messages. Returns a function that stops it. */
export function recordTraffic(port: () => number, secrets: Secrets): () => void {
  const listen = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.socket.localPort === port()) recordRequest(request, secrets);
  };
  subscribe(requestChannel, listen);
  const stopMessages = onMessageReceived(port, (data) => secrets.record('', { json: jsonIn(String(data)) }));
  return () => {
    unsubscribe(requestChannel, listen);
    stopMessages();
  };
}

/** Calls `onMessage` with each live message that the server on this port has read. Returns a function that stops it. */
export function onMessageReceived(port: () => number, onMessage: (data: Buffer) => void): () => void {
  const listen = (message: unknown) => {
    const { socket, data } = message as { socket: Socket | undefined; data: Buffer };
    if (socket?.localPort === port()) onMessage(data);
  };
  subscribe(messageChannel, listen);
  return () => void unsubscribe(messageChannel, listen);
}

publishMessages();

function publishMessages(): void {
  const messages = channel(messageChannel);
  const { emit } = WebSocket.prototype;
  WebSocket.prototype.emit = function (this: WebSocket & { _socket?: Socket }, event, ...args) {
    if (event === 'message') messages.publish({ socket: this._socket, data: args[0] });
    return emit.call(this, event, ...args);
  };
}

function recordRequest(request: IncomingMessage, secrets: Secrets): void {
  const headers = request.headers as Record<string, string>;
  secrets.record(request.url ?? '', { headers, pin: headers['x-room-pin'] ?? '' });
  const maxRecorded = headers['content-type']?.includes('json') ? Number.POSITIVE_INFINITY : maxBytes;
  const chunks: Buffer[] = [];
  let size = 0;
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk && size < maxRecorded) chunks.push(Buffer.from(chunk));
    size += chunk?.length ?? 0;
    if (chunk === null) note(String(Buffer.concat(chunks)));
    return push(chunk, encoding);
  };

  function note(body: string): void {
    secrets.record(request.url ?? '', { json: jsonIn(body), body, headers });
  }
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
