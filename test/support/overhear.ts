/** Records the requests and live messages that reach a server of this process, from any client. */
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Secrets } from './secrets.ts';

const begun = 'http.server.request.start';
/** `ws` has no such channel; it emits what it has received. */
const received = 'test.ws.message.received';

/** Of a body that is not JSON: its files begin soon. */
const most = 64 * 1024;

/** Notes what they have to hide; returns what ends it. */
export function overhear(port: () => number, secrets: Secrets): () => void {
  const listen = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.socket.localPort === port()) hear(request, secrets);
  };
  subscribe(begun, listen);
  const deafen = onReceived(port, (data) => secrets.note('', { json: jsonIn(String(data)) }));
  return () => {
    unsubscribe(begun, listen);
    deafen();
  };
}

/** Told of each live message that the server at a port has read; returns what ends it. */
export function onReceived(port: () => number, told: (data: Buffer) => void): () => void {
  const listen = (message: unknown) => {
    const { socket, data } = message as { socket: Socket | undefined; data: Buffer };
    if (socket?.localPort === port()) told(data);
  };
  subscribe(received, listen);
  return () => void unsubscribe(received, listen);
}

publishMessages();

function publishMessages(): void {
  const messages = channel(received);
  const { emit } = WebSocket.prototype;
  WebSocket.prototype.emit = function (this: WebSocket & { _socket?: Socket }, event, ...args) {
    if (event === 'message') messages.publish({ socket: this._socket, data: args[0] });
    return emit.call(this, event, ...args);
  };
}

function hear(request: IncomingMessage, secrets: Secrets): void {
  const headers = request.headers as Record<string, string>;
  secrets.note(request.url ?? '', { headers, pin: headers['x-room-pin'] ?? '' });
  const heard = headers['content-type']?.includes('json') ? Number.POSITIVE_INFINITY : most;
  const chunks: Buffer[] = [];
  let size = 0;
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk && size < heard) chunks.push(Buffer.from(chunk));
    size += chunk?.length ?? 0;
    if (chunk === null) note(String(Buffer.concat(chunks)));
    return push(chunk, encoding);
  };

  function note(body: string): void {
    secrets.note(request.url ?? '', { json: jsonIn(body), body, headers });
  }
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
