/** Sends replies. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { freeBuffer } from '../../core/defence/garbage.ts';
import { hasCode } from '../../core/errors.ts';
import { keepOpen } from '../connections.ts';
import { hasBody } from '../request/request.ts';
import { drain } from './drain.ts';
import type { Reply } from './reply.ts';

export interface Exchange {
  raw: IncomingMessage;
  response: ServerResponse;
  /** Whether the client still waits for `100 Continue`, so that no body will arrive. */
  isBodyWithheld: () => boolean;
}

/** Adds the headers of the reply to the common ones, and sends it. Returns a promise only if sending takes time. */
export function send(exchange: Exchange, reply: Reply, headers: Headers): Promise<void> | void {
  const { raw, response, isBodyWithheld } = exchange;
  const { status, body } = reply;
  const unread = !raw.complete && hasBody(raw);
  Object.assign(headers, reply.headers);
  if (unread) headers.Connection = 'close';
  if (body instanceof Readable) return stream(exchange, status, headers, body);
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  if (status !== 304 && status !== 204) headers['Content-Length'] ??= String(length);
  response.writeHead(status, headers);
  if (body === undefined || raw.method === 'HEAD') response.end();
  else if (unread && !raw.destroyed && !isBodyWithheld()) return endAfterBody(raw, response, body);
  // Writing ASCII text as latin1 is much cheaper than encoding it.
  else response.end(body, length === body.length ? 'latin1' : 'utf8');
}

type Headers = Record<string, string>;

/** Always destroys the body, which closes its file or removes the device from its room. */
async function stream({ raw, response }: Exchange, status: number, headers: Headers, body: Readable): Promise<void> {
  try {
    response.writeHead(status, headers);
    if (raw.method === 'HEAD') response.end();
    else await pipeBody(body, headers['Content-Length'], response);
  } catch (error) {
    response.destroy();
    if (!isDisconnect(error) && !isRemoval(error)) throw error;
  } finally {
    body.destroy();
  }
}

function pipeBody(body: Readable, length: string | undefined, response: ServerResponse): Promise<void> {
  if (length !== undefined) return pump(body, Number(length), response);
  // Only live channels have no length.
  if (response.socket) keepOpen(response.socket);
  return pipeline(body, response);
}

/**
 * Like `pipeline`, with a check of the length. It frees each chunk when it has been sent or the connection has ended:
 * the garbage collector would wait for 64 MiB of them.
 */
function pump(body: Readable, announced: number, response: ServerResponse): Promise<void> {
  let sent = 0;
  const unsent = new Set<Buffer>();
  const free = (chunk: Buffer) => {
    if (unsent.delete(chunk)) freeBuffer(chunk);
  };
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      sent += chunk.length;
      if (sent > announced) return reject(lengthMismatch(announced, sent));
      unsent.add(chunk);
      const isAccepted = response.write(chunk, (error) => {
        if (!error) free(chunk);
      });
      if (!isAccepted) body.pause();
    };
    const onEnd = () => {
      if (sent !== announced) return reject(lengthMismatch(announced, sent));
      response.end();
      resolve();
    };
    // The handle of the connection is closed now, so nothing reads the chunks any more.
    const onDisconnect = () => {
      unsent.forEach(free);
      reject(Object.assign(new Error('The client disconnected.'), { code: disconnected }));
    };
    if (response.destroyed) return onDisconnect();
    body.on('data', onData).on('end', onEnd).on('error', reject);
    body.on('close', () => reject(new Error('The file ended early.')));
    response.on('drain', () => body.resume());
    response.on('close', onDisconnect);
  });
}

const disconnected = 'ERR_STREAM_PREMATURE_CLOSE';

/** With a wrong length, the client would read the next response as part of this one. */
function lengthMismatch(announced: number, sent: number): Error {
  return new Error(`The response announced ${announced} bytes but sent ${sent} bytes.`);
}

/** A client that disconnects during the response is not a server error. */
function isDisconnect(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === disconnected || code === 'ERR_STREAM_UNABLE_TO_PIPE';
}

/** Nor is a file that was removed before an archive came to it. */
const isRemoval = (error: unknown) => hasCode(error, 'FILE_NOT_FOUND');

/**
 * Responds to a client that is still sending. Closing now would reset the connection and lose the response, so drain
 * the body first.
 */
async function endAfterBody(raw: IncomingMessage, response: ServerResponse, body: string | Uint8Array): Promise<void> {
  response.write(body);
  await drain(raw);
  response.end();
}
