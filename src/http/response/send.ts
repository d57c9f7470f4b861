/** Turns replies into bytes on the wire. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasBody } from '../request/request.ts';
import { drain } from './drain.ts';
import type { Reply } from './reply.ts';

export interface Exchange {
  raw: IncomingMessage;
  response: ServerResponse;
  /** Whether the client still waits to be told to send its body: then none is on its way. */
  bodyHeldBack: () => boolean;
}

/** Completes the headers that every response has with those of this one. What takes no time promises nothing. */
export function send(exchange: Exchange, reply: Reply, headers: Headers): Promise<void> | void {
  const { raw, response, bodyHeldBack } = exchange;
  const { status, body } = reply;
  const unread = !raw.complete && hasBody(raw);
  Object.assign(headers, reply.headers);
  if (unread) headers.Connection = 'close';
  if (body instanceof Readable) return stream(exchange, status, headers, body);
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  if (status !== 304 && status !== 204) headers['Content-Length'] ??= String(length);
  response.writeHead(status, headers);
  if (body === undefined || raw.method === 'HEAD') response.end();
  else if (unread && !raw.destroyed && !bodyHeldBack()) return endAfterBody(raw, response, body);
  // Text that is all ASCII goes out byte for byte, which is much cheaper than encoding it.
  else response.end(body, length === body.length ? 'latin1' : 'utf8');
}

type Headers = Record<string, string>;

/** However it ends, the body is closed: nobody else would close the file behind it, or leave the room. */
async function stream({ raw, response }: Exchange, status: number, headers: Headers, body: Readable): Promise<void> {
  try {
    response.writeHead(status, headers);
    if (raw.method === 'HEAD') response.end();
    else await pass(body, headers['Content-Length'], response);
  } catch (error) {
    response.destroy();
    if (!isLeaving(error)) throw error;
  } finally {
    body.destroy();
  }
}

async function pass(body: Readable, length: string | undefined, response: ServerResponse): Promise<void> {
  if (length === undefined) return pipeline(body, response);
  const announced = Number(length);
  let passed = 0;
  // Beside the pipe and not as a part of it: one more stream in the row makes downloads slower.
  body.on('data', (chunk: Buffer) => {
    passed += chunk.length;
    if (passed > announced) response.destroy();
  });
  await pipeline(body, response, { end: false }).catch((error) => {
    throw passed > announced ? miscounted(announced, passed) : error;
  });
  if (passed !== announced) throw miscounted(announced, passed);
  response.end();
}

/** One byte less or more than was announced, and the reader would take the next response for a part of this one. */
function miscounted(announced: number, passed: number): Error {
  return new Error(`A body of ${announced} bytes was announced, and came with ${passed} bytes.`);
}

/** A reader that leaves, before the first byte or in the middle, is its own business. */
function isLeaving(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ERR_STREAM_UNABLE_TO_PIPE';
}

/**
 * Answers a client that is still sending. Closing at once would reset the connection, and the client would lose the
 * answer that it has not read; so the rest of the body is taken and dropped, but not for long.
 */
async function endAfterBody(raw: IncomingMessage, response: ServerResponse, body: string | Uint8Array): Promise<void> {
  response.write(body);
  await drain(raw);
  response.end();
}
