/** Turns replies into bytes on the wire. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Reply } from './reply.ts';
import { hasBody } from './request.ts';

export interface Exchange {
  raw: IncomingMessage;
  response: ServerResponse;
  /** Whether the client still waits to be told to send its body: then none is on its way. */
  bodyHeldBack: () => boolean;
}

/** Completes the headers that every response has with those of this one. */
export async function send({ raw, response, bodyHeldBack }: Exchange, reply: Reply, headers: Headers): Promise<void> {
  const unread = !raw.complete && hasBody(raw);
  Object.assign(headers, reply.headers);
  if (unread) headers.Connection = 'close';
  if (isSized(reply))
    headers['Content-Length'] ??= String(reply.body === undefined ? 0 : Buffer.byteLength(reply.body));
  response.writeHead(reply.status, headers);
  if (reply.body === undefined || raw.method === 'HEAD') response.end();
  else if (reply.body instanceof Readable) await stream(reply.body, response);
  else if (!unread || raw.destroyed || bodyHeldBack()) response.end(reply.body);
  else await endAfterBody(raw, response, reply.body);
}

type Headers = Record<string, string>;

function isSized(reply: Reply): reply is Reply & { body?: string | Uint8Array } {
  return !(reply.body instanceof Readable) && reply.status !== 304 && reply.status !== 204;
}

/** A reader that leaves in the middle is its own business. */
async function stream(body: Readable, response: ServerResponse): Promise<void> {
  await pipeline(body, response).catch(() => response.destroy());
}

const lingerMs = 2000;
const lingerBytes = 64 * 1024 * 1024;

/**
 * Answers a client that is still sending. Closing at once would reset the connection, and the client would lose the
 * answer that it has not read; so the rest of the body is taken and dropped, but not for long.
 */
async function endAfterBody(raw: IncomingMessage, response: ServerResponse, body: string | Uint8Array): Promise<void> {
  response.write(body);
  let dropped = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, lingerMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    raw.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > lingerBytes) done();
    });
    raw.once('end', done).once('close', done).once('error', done).resume();
  });
  response.end();
}
