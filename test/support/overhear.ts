/** Listens to the HTTP requests that reach a server of this process, whoever sent them: a test, the SDK, a browser. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Secrets } from './secrets.ts';

const begun = 'http.server.request.start';
/** Of a body. A text that is longer goes unnoted, and so does what is said on a live channel. */
const most = 64 * 1024;

/** Notes what they have to hide; returns what ends it. */
export function overhear(port: () => number, secrets: Secrets): () => void {
  const listen = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.socket.localPort === port()) hear(request, secrets);
  };
  subscribe(begun, listen);
  return () => void unsubscribe(begun, listen);
}

function hear(request: IncomingMessage, secrets: Secrets): void {
  const headers = request.headers as Record<string, string>;
  secrets.note(request.url ?? '', { headers, pin: headers['x-room-pin'] ?? '' });
  const chunks: Buffer[] = [];
  let size = 0;
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk && size < most) chunks.push(Buffer.from(chunk));
    size += chunk?.length ?? 0;
    if (chunk === null) note(Buffer.concat(chunks).toString());
    return push(chunk, encoding);
  };

  function note(body: string): void {
    const [, fileName] = /filename="([^"]*)"/.exec(body) ?? [];
    secrets.note('', { json: jsonIn(body), fileName });
  }
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
