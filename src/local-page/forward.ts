/**
 * Forwards the requests of the page of `poproom ui` to the server. The server must not be able to run anything on the
 * origin of the page: of its responses, only the status, the body and a few headers reach the browser, with a type that
 * is not executable.
 */
import { createHash } from 'node:crypto';
import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasBody, queryOf } from '../http/request/request.ts';
import { json, type Reply } from '../http/response/reply.ts';
import { closeSoon, endWith, send } from '../http/response/send.ts';
import { browserHeaders } from '../http/routes/file-handlers.ts';
import type { EndpointName } from '../protocol/endpoints.ts';

export interface ForwarderDeps {
  /** The URL of the server, possibly with a path. */
  server: string;
  apiKey: string | undefined;
  /** For creating rooms, unless the page sends one. */
  createPassword?: string | undefined;
  /** Called when a request could not reach the server. */
  onFailure(error: Error): void;
  onResponse(): void;
}

/** An endpoint that a request matches, with its path on the server, without the query. */
export type Target = { name: EndpointName; path: string; params: Record<string, string> };

export type Forwarder = ReturnType<typeof createForwarder>;

type ErrorPage = (status: number) => Promise<Reply | undefined>;

/** A server that neither sends nor takes a byte for this long has failed. Live channels have a heartbeat. */
const idleMs = 90_000;
const maxConnections = 64;
/** Of a response that arrives before the request was sent. */
const maxEarlyBytes = 64 * 1024;

/** Everything else is about the browser or its connection to this machine. */
const requestHeaders = [
  ...['content-length', 'content-type', 'idempotency-key', 'range'],
  ...['if-match', 'if-modified-since', 'if-none-match', 'if-range'],
  ...['tus-resumable', 'upload-checksum', 'upload-length', 'upload-metadata', 'upload-offset'],
  ...['x-create-password', 'x-device-id', 'x-file-meta', 'x-file-name'],
  ...['x-resume-token', 'x-room-auth', 'x-room-pin', 'x-upload-ticket'],
];

const responseHeaders = [
  ...['accept-ranges', 'allow', 'content-length', 'content-range', 'date', 'etag', 'last-modified'],
  ...['idempotency-replayed', 'ratelimit', 'ratelimit-policy', 'retry-after'],
  ...['tus-resumable', 'upload-expires', 'upload-length', 'upload-metadata', 'upload-offset'],
  ...['x-file-url', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id'],
];

const encodings = ['gzip', 'br'];

/** For everything that a server sends: should a browser show it as a document, it can neither run nor load anything. */
const inert = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'self'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

export function createForwarder({ server, apiKey, createPassword, onFailure, onResponse }: ForwarderDeps) {
  const { protocol, pathname, hostname, port, host } = new URL(server);
  const isTls = protocol === 'https:';
  const { Agent, request: open } = process.getBuiltinModule(isTls ? 'node:https' : 'node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  const place: RequestOptions = {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port || (isTls ? 443 : 80),
    timeout: idleMs,
  };
  const basePath = pathname.replace(/\/+$/, '');
  function ask(raw: IncomingMessage, target: Target, headers: Record<string, string>, own: RequestOptions) {
    const { url = '', method = 'GET' } = raw;
    const path = basePath + target.path + (url.includes('?') ? url.slice(url.indexOf('?')) : '');
    // The key is not for files: their URLs need none.
    const authorization = apiKey && target.path.startsWith('/api/') && { authorization: `Bearer ${apiKey}` };
    const request = open({ ...place, ...own, method, path, headers: { host, ...headers, ...authorization } });
    request.on('timeout', () => request.destroy(Object.assign(new Error('silent'), { name: 'TimeoutError' })));
    return request;
  }

  /** `errorPage` is for a person who opens a file that the server does not send. Programs get the error of the server. */
  async function forward(raw: IncomingMessage, response: ServerResponse, target: Target, errorPage: ErrorPage) {
    const isFile = target.name === 'serveFile' || target.name === 'downloadZip';
    const headers = {
      ...(createPassword !== undefined && target.name === 'createRoom' && { 'x-create-password': createPassword }),
      ...pick(raw, requestHeaders),
      accept: '*/*',
      'accept-encoding': isFile ? 'identity' : encodings.join(', '),
    };
    const request = ask(raw, target, headers, { agent });
    const abort = () => request.destroy();
    response.on('close', abort);
    // A browser would read more bytes than announced as the next response, with headers of the server's choice.
    response.strictContentLength = true;
    const exchange = { raw, response, isBodyWithheld: () => false };
    try {
      const incoming = await responseTo(request, raw);
      onResponse();
      const reply = await replyFrom(incoming, raw, target);
      const own = reply.status >= 400 && isFile ? await errorPage(reply.status) : undefined;
      if (own || reply.body !== undefined) {
        abort();
        await send(exchange, own ?? reply, {});
      } else if (!raw.complete && hasBody(raw)) await sendEarly(exchange, incoming, reply);
      else {
        response.writeHead(reply.status, reply.headers);
        await pipeline(incoming, response);
      }
    } catch (error) {
      abort();
      if (response.headersSent || response.destroyed || raw.errored) return void response.destroy();
      onFailure(error as Error);
      await send(exchange, (await errorPage(offline.status)) ?? offline, {});
    } finally {
      response.off('close', abort);
    }
  }

  return {
    request: forward,

    upgrade(raw: IncomingMessage, socket: Duplex, head: Buffer, target: Target): void {
      const { 'sec-websocket-key': key = '', 'sec-websocket-protocol': offered } = raw.headers;
      const headers = {
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key },
        ...(offered && { 'sec-websocket-protocol': offered }),
      };
      const request = ask(raw, target, headers, { agent: false });
      const refuse = () => endWith(socket, { status: 502 }, '');
      // Browsers send nothing before the response; without reading, the end of the connection would not be noticed.
      socket.on('close', () => request.destroy()).on('end', () => socket.destroy());
      socket.resume();
      request.on('error', (error) => {
        // The browser has left.
        if (socket.destroyed) return;
        onFailure(error);
        refuse();
      });
      request.on('response', (incoming) => {
        onResponse();
        incoming.destroy();
        refuse();
      });
      request.on('upgrade', (incoming, far, farHead) => {
        onResponse();
        const handshake = handshakeFrom(incoming, key, offered);
        if (!handshake || socket.destroyed) {
          far.destroy();
          return refuse();
        }
        socket.write(handshake);
        join(socket, far, head, farHead);
      });
      request.end();
    },

    close: () => agent.destroy(),
  };
}

/** Sends the body, and waits for the response. */
function responseTo(request: ClientRequest, raw: IncomingMessage): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', (incoming) => {
      raw.unpipe(request);
      resolve(incoming);
    });
    request.on('error', reject);
    raw.on('error', reject);
    if (hasBody(raw)) raw.pipe(request);
    else request.end();
  });
}

/** Without a body, that of the server follows. */
async function replyFrom(incoming: IncomingMessage, raw: IncomingMessage, target: Target): Promise<Reply> {
  const { statusCode: status = 0, headers } = incoming;
  if (!isExpected(status)) {
    incoming.destroy();
    return invalid;
  }
  const picked = pick(incoming, responseHeaders);
  if (headers['transfer-encoding'] !== undefined || !/^\d+$/.test(picked['content-length'] ?? ''))
    delete picked['content-length'];
  // Where an upload continues; a browser follows it only in a redirect.
  const location = status === 201 ? pick(incoming, ['location']) : {};
  return { status, headers: { ...picked, ...location, ...(await typeHeaders(incoming, raw, target)), ...inert } };
}

/** How a browser shows the body: an error, or what the endpoint returns. */
async function typeHeaders(incoming: IncomingMessage, raw: IncomingMessage, { name, params }: Target) {
  const { statusCode = 0, headers } = incoming;
  if (name === 'serveFile' && statusCode < 400) {
    const isSaved = queryOf(raw.url ?? '').has('download') || !/^inline\b/i.test(headers['content-disposition'] ?? '');
    const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
    return browserHeaders({ name: params.name ?? '', type: type.trim() }, isSaved);
  }
  if (name === 'downloadZip' && statusCode < 400) {
    const disposition = `attachment; filename="poproom-${(params.roomId ?? '').replace(/[^0-9A-Za-z-]/g, '')}.zip"`;
    return { 'Content-Type': 'application/zip', 'Content-Disposition': disposition };
  }
  const encoding = headers['content-encoding'];
  return {
    ...(encoding && encodings.includes(encoding) && { 'Content-Encoding': encoding }),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Disposition': 'attachment',
  };
}

const isExpected = (status: number) => [200, 201, 204, 206, 304].includes(status) || (status >= 400 && status < 600);

function pick({ headers }: IncomingMessage, names: readonly string[]): Record<string, string> {
  const found = names.map((name) => [name, headers[name]] as const);
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => typeof entry[1] === 'string' && /^[\x20-\x7e]*$/.test(entry[1])),
  );
}

/** The server refuses a body that is still being sent. */
async function sendEarly(exchange: Parameters<typeof send>[0], incoming: Readable, reply: Reply): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > maxEarlyBytes) break;
    chunks.push(chunk);
  }
  const { 'content-length': length, ...headers } = reply.headers ?? {};
  await send(exchange, { ...reply, headers, body: Buffer.concat(chunks) }, {});
}

const failure = (status: number, code: string, message: string): Reply => {
  const reply = json(status, { success: false, error: { code, message }, requestId: '' });
  return { ...reply, headers: { ...reply.headers, ...inert } };
};

/** The page treats it like a lost connection of its own. */
const offline = failure(502, 'OFFLINE', 'The server cannot be reached.');
const invalid = failure(502, 'INVALID_RESPONSE', 'The server redirects, or sent a response that is not valid.');

/** Undefined if the server has not accepted the WebSocket that was requested. */
function handshakeFrom({ headers }: IncomingMessage, key: string, offered: string | undefined): string | undefined {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const { 'sec-websocket-accept': given, 'sec-websocket-protocol': chosen, 'sec-websocket-extensions': more } = headers;
  const isOffered = chosen === undefined || offered?.split(/, */).includes(chosen);
  if (given !== accept || !isOffered || more !== undefined) return undefined;
  const protocol = chosen === undefined ? '' : `Sec-WebSocket-Protocol: ${chosen}\r\n`;
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${protocol}\r\n`;
}

/** Each side waits for the other one to read, and ends with it. */
function join(near: Duplex, far: Duplex, head: Buffer, farHead: Buffer): void {
  if (farHead.length > 0) near.write(farHead);
  if (head.length > 0) far.write(head);
  for (const one of [near, far]) {
    const other = one === near ? far : near;
    one.on('error', () => one.destroy()).on('close', () => closeSoon(other.end()));
    one.pipe(other);
    const socket = one as Duplex & { setTimeout?(ms: number, then: () => void): void; setNoDelay?(): void };
    socket.setTimeout?.(idleMs, () => one.destroy());
    socket.setNoDelay?.();
  }
}
