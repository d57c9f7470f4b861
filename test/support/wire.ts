/** A raw socket to a server, for requests that no well-behaved client sends. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';

export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The code of an error answer. */
  code: string | undefined;
}

export interface Wire {
  /** Resolves when the bytes are handed to the system, so a server that stops reading holds it up. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** The next whole answer; 100 Continue is one. */
  answer(): Promise<WireAnswer>;
  /** Whatever came and was not taken as an answer. */
  pending(): string;
  isClosed(): boolean;
  closed(): Promise<void>;
  /** Says that nothing more will be sent, and goes on listening. */
  endSending(): void;
  /** Leaves without a word. */
  leave(): void;
}

/**
 * One that `staysOpen` goes on sending after the server has said that it is done; one that does not read leaves the
 * server with what it has to say.
 */
export async function openWire(
  t: TestContext,
  port: number,
  { staysOpen = false, readsAnswers = true } = {},
): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: staysOpen, noDelay: true });
  t.after(() => socket.destroy());
  let received = Buffer.alloc(0);
  let closed = false;
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
  };
  if (readsAnswers) socket.on('data', onData);
  // A server that has said its last word may cut the connection while we still send.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
  });
  await once(socket, 'connect');

  function take(): WireAnswer | undefined {
    const parsed = parseAnswer(received);
    if (!parsed) return undefined;
    received = received.subarray(parsed.length);
    return parsed.answer;
  }

  return {
    send: (bytes) => new Promise((resolve) => void socket.write(bytes, () => resolve())),
    answer: () => eventually('the server answers', take),
    pending: () => received.toString('latin1'),
    isClosed: () => closed,
    closed: async () => void (await eventually('the server closes the connection', () => closed)),
    endSending: () => void socket.end(),
    leave: () => socket.destroy(),
  };
}

/** The first answer in these bytes, and how many of them it is; nothing where it is not whole yet. */
export function parseAnswer(bytes: Buffer): { answer: WireAnswer; length: number } | undefined {
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

/** The head of a request; headers are written as they are given. */
export function requestHead(method: string, path: string, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** One chunk of a body whose length is not announced. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}

export const lastChunk = '0\r\n\r\n';
