/** A raw socket to a server, for malformed and slow requests. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The code of an error response. */
  code: string | undefined;
}

export interface RawSocket {
  /** Resolves when the bytes are in the socket buffer, so it waits while the server does not read. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** The next complete response, including 100 Continue. */
  response(): Promise<RawResponse>;
  /** The received bytes that were not returned as a response yet. */
  unread(): string;
  isClosed(): boolean;
  closed(): Promise<void>;
  /** Ends the sending side, and continues to receive. */
  endSending(): void;
  /** Closes the connection abruptly. */
  destroy(): void;
}

/**
 * With `allowHalfOpen`, the socket can send after the server has ended its side. Without `readsResponses`, the server
 * cannot send more than the socket buffers take.
 */
export async function openRawSocket(
  t: TestContext,
  port: number,
  { allowHalfOpen = false, readsResponses = true } = {},
): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: allowHalfOpen, noDelay: true });
  t.after(() => socket.destroy());
  let received = Buffer.alloc(0);
  let isClosed = false;
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
  };
  if (readsResponses) socket.on('data', onData);
  // The server may reset the connection after its response, while we still send.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  await once(socket, 'connect');

  function takeResponse(): RawResponse | undefined {
    const parsed = parseResponse(received);
    if (!parsed) return undefined;
    received = received.subarray(parsed.length);
    return parsed.answer;
  }

  return {
    send: (bytes) => new Promise((resolve) => void socket.write(bytes, () => resolve())),
    response: () => eventually('the server responds', takeResponse),
    unread: () => received.toString('latin1'),
    isClosed: () => isClosed,
    closed: async () => void (await eventually('the server closes the connection', () => isClosed)),
    endSending: () => void socket.end(),
    destroy: () => socket.destroy(),
  };
}

/** The first response in these bytes, and its length. Undefined if it is incomplete. */
export function parseResponse(bytes: Buffer): { answer: RawResponse; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = Object.fromEntries(lines.map(headerOf));
  const length = headEnd + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < length) return undefined;
  const text = bytes.toString('utf8', headEnd + 4, length);
  const status = Number(first.split(' ')[1]);
  const code = status >= 400 && text.startsWith('{') ? JSON.parse(text).error?.code : undefined;
  return { answer: { status, headers, text, code }, length };
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** The head of a request. Headers are sent unchanged. */
export function requestHead(method: string, path: string, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** One chunk of a body in chunked encoding. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}

export const lastChunk = '0\r\n\r\n';
