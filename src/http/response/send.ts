/**
 * Sends replies. Those that clients do not read stay in memory, and their files stay open, so they count against the
 * budgets. Records every request: a log line and an observation for the metrics.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientLog } from '../../core/clients.ts';
import { freeBuffer, noteDropped } from '../../core/defence/garbage.ts';
import { drain } from '../../core/defence/pipeline.ts';
import type { TransferBudget } from '../../core/defence/transfer-budget.ts';
import { hasCode, PoproomError } from '../../core/errors.ts';
import type { ClientId } from '../../core/ports/basics.ts';
import type { ErrorCode } from '../../protocol/error-codes.ts';
import { descriptorsOf, keepOpen, sentBytes } from '../connections.ts';
import { overloaded } from '../request/body.ts';
import { hasBody, type Request } from '../request/request.ts';
import { linesOf, type Reply, statusOf } from './reply.ts';

const { ServerResponse: NodeResponse, STATUS_CODES } = process.getBuiltinModule('node:http');

/** Node's method that composes the head, which its types do not have. */
const { _storeHeader: storeHeader } = NodeResponse.prototype as unknown as {
  _storeHeader(this: ServerResponse, firstLines: string, headers: Headers): void;
};

/** Characters that Node rejects in the value of a header. */
const invalidInHeader = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Composes the head of a response. Node validates the name and the value of each header, which takes longer than sending
 * them. Names are constants, and one check of all values suffices.
 */
export class RouteResponse extends NodeResponse {
  /** The first headers, each with its line break. */
  headerLines = '';
  /** Those that tell the client its rate limit, likewise. */
  rateLines = '';

  _storeHeader(statusLine: string, headers: Headers = {}): void {
    // Node derives from these whether the connection stays open.
    const framing: Headers = {};
    let lines = statusLine + this.headerLines + this.rateLines;
    let values = '';
    for (const name in headers) {
      const value = headers[name] as string;
      if (name === 'Content-Length' || name === 'Connection') framing[name] = value;
      else {
        lines += `${name}: ${value}\r\n`;
        values += value;
      }
    }
    if (invalidInHeader.test(values)) throw new Error('The value of a response header has an invalid character.');
    storeHeader.call(this, lines, framing);
  }
}

interface Exchange {
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
  else if (reply.isOwnBody && body instanceof Uint8Array) response.end(body, () => freeBuffer(body));
  // As ASCII, it is not encoded again.
  else response.end(body, typeof body === 'string' && body.length === length ? 'latin1' : 'utf8');
  // Ends a request that nothing listens to. Node would do it later, and with more steps.
  if (raw.complete && raw.readableFlowing === null) raw.read();
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
const lengthMismatch = (announced: number, sent: number): Error =>
  new Error(`The response announced ${announced} bytes but sent ${sent} bytes.`);

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

/** Time for the client to read the response. */
const lingerMs = 2000;

/** Writes a reply to a socket without a response object, and closes the connection. */
export function endWith(socket: Duplex, { status, headers, body }: Reply, headerLines: string): void {
  const text = typeof body === 'string' ? body : '';
  const lines =
    headerLines + linesOf({ Connection: 'close', ...headers, 'Content-Length': String(Buffer.byteLength(text)) });
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${text}`);
  closeSoon(socket);
}

/** Otherwise a client that keeps its side open would hold the connection forever. */
export function closeSoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/** Smaller ones are not counted: a connection has only one response at a time. */
const countedFrom = 16 * 1024;
/** The memory of a stream while it is sent: its connection, the chunk that is being sent and the next one. */
export const bytesPerStream = 256 * 1024;

type Unsent = Pick<Request, 'client' | 'response'>;

/** Whether the budget has room for these bytes. They are released when the response has been sent or aborted. */
export function holdUntilSent({ client, response }: Unsent, budget: TransferBudget, bytes: number): boolean {
  const { socket } = response;
  const transfer = budget.start({ client, progress: () => sentBytes(socket), end: () => response.destroy() });
  if (!transfer.take(bytes)) return refuse(response);
  // If the client is gone, there is no further event.
  if (response.destroyed) transfer.close();
  else response.once('close', () => transfer.close());
  return true;
}

/**
 * Encodes a long text once. As a string, Node would count its bytes, join it to the header and then encode it: part of
 * what brought a write of 100 KB from 1.5 to 1.3 times the CPU time of a simple one (docs/performance.md).
 */
export function encodeLong(reply: Reply): Reply {
  const { body } = reply;
  if (typeof body !== 'string' || body.length < countedFrom) return reply;
  return { ...reply, body: Buffer.from(body), isOwnBody: true };
}

/** Whether a response in memory may be sent. Handlers count streams themselves, before they open a file. */
export function holdUnsent(request: Unsent, budget: TransferBudget, reply: Reply): boolean {
  const body = ownBody(reply);
  if (body === undefined || body.length < countedFrom) return true;
  const bytes = Buffer.byteLength(body);
  if (holdUntilSent(request, budget, bytes)) return true;
  noteDropped(bytes);
  return false;
}

/** Call this before a file is opened for the request. A connection has one open file at a time. */
export function holdFile({ raw, response }: Pick<Request, 'raw' | 'response'>): void {
  const descriptors = descriptorsOf(raw.socket);
  if (!descriptors || response.destroyed) return;
  if (!descriptors.take(1)) {
    refuse(response);
    throw overloaded();
  }
  response.once('close', () => descriptors.release(1));
}

/** The connection ends with the error. Thousands of refused requests would otherwise leave idle connections. */
function refuse(response: ServerResponse): false {
  response.shouldKeepAlive = false;
  return false;
}

function ownBody({ body, isOwnBody }: Reply): string | Uint8Array | undefined {
  if (typeof body === 'string') return body;
  return isOwnBody && body instanceof Uint8Array ? body : undefined;
}

export interface Observation {
  method: string;
  /** The route pattern, never the path: a path contains a room code or a file id. */
  route: string;
  status: number;
  /** Until the start of the response. */
  seconds: number;
  /** Why the request was rejected or failed, if it was. */
  error?: unknown;
}

export interface Answered extends Pick<Observation, 'method' | 'route' | 'status'> {
  requestId: string;
  /** The id of the distributed trace that the request belongs to. */
  traceId: string | undefined;
  client: ClientId;
  /** Why the request was rejected or failed, if it was. */
  error: unknown;
  /** From `performance.now()`. */
  startedAt: number;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

interface RequestEvents {
  /** For the metrics; undefined without them. */
  observe: ((seen: Observation) => void) | undefined;
  /** Called when a request fails because of the server. */
  onFailure: () => void;
  /** Called when a response could not be finished. */
  onBroken: () => void;
}

export function createRequestLog(lines: ClientLog, { observe, onFailure, onBroken }: RequestEvents) {
  return {
    /**
     * Call this before the response is sent, so that the metrics do not include how long the client reads. Logs a failed
     * request with its cause.
     */
    answering(answered: Answered): void {
      const { method, route, status, client, error, startedAt } = answered;
      observe?.({ method, route, status, error, seconds: secondsSince(startedAt) });
      if (!isFailure(answered)) return;
      onFailure();
      const fields = { ...fieldsOf(answered), ...explain(error) };
      lines.refused({ client, code: codeOf(error), level: 'error', fields, message: 'request failed' });
    },

    /** Call this after the response is sent. Logs all other requests. */
    answered(answered: Answered): void {
      const { status, client, error } = answered;
      if (status < 400) {
        if (lines.isDebug) lines.debug(client, fieldsOf(answered), 'request');
      } else if (!isFailure(answered)) {
        const code = error === undefined ? String(status) : codeOf(error);
        lines.refused({ client, code, fields: fieldsOf(answered), message: 'request' });
      }
    },

    /** Call this if the response could not be finished. */
    broken(requestId: string, client: ClientId, err: unknown): void {
      onBroken();
      const fields = { requestId, err };
      lines.refused({ client, code: 'RESPONSE_FAILED', level: 'error', fields, message: 'response failed' });
    },
  };
}

/** A store that is unavailable or full is not a bug, so a stack for each request would only hide the reason. */
function explain(error: unknown): { reason: string } | { err: unknown } {
  const err = causeOf(error);
  const isExpected = hasCode(error, 'UNAVAILABLE', 'STORAGE_FULL') && err instanceof Error;
  return isExpected ? { reason: err.message } : { err };
}

const codeOf = (error: unknown): ErrorCode => (error instanceof PoproomError ? error.code : 'INTERNAL');

/** The error for the operator's log: the cause of a deliberate rejection, or the unexpected error itself. */
function causeOf(error: unknown): unknown {
  const deliberate = error instanceof PoproomError && statusOf(error.code) >= 500;
  return deliberate ? (error.cause ?? error) : error;
}

/** Whether the server failed. Such requests are logged with their cause. */
const isFailure = ({ status, error }: Pick<Answered, 'status' | 'error'>) => status >= 500 && error !== undefined;

function fieldsOf({ requestId, traceId, method, route, status, startedAt }: Answered) {
  const ids = traceId === undefined ? { requestId } : { requestId, traceId };
  return { ...ids, method, route, status, ms: Math.round(secondsSince(startedAt) * 1e4) / 10 };
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1000;
