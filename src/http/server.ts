/**
 * The HTTP server: its limits, responses to malformed requests, and upgrades to WebSocket, which are authorized like every
 * request and then passed to the live channel.
 */
import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterWaiting, createPipeline, currentResponse } from '../core/defence/pipeline.ts';
import { PoproomError } from '../core/errors.ts';
import type { LiveGateway } from '../core/live-gateway.ts';
import type { ClientId } from '../core/ports/basics.ts';
import { endpoints } from '../protocol/endpoints.ts';
import type { App, AppDeps } from './app.ts';
import type { CertificatePem } from './certificate.ts';
import { foreignOrigin, isForeignOrigin } from './request/authorize.ts';
import { deadlinePassed, tookTooLong } from './request/body.ts';
import { framingError, givenRequestId, hasBody, pathOf, traceIdIn } from './request/request.ts';
import { corsHeaders, errorReply, fixedHeaders, linesOf } from './response/reply.ts';
import { closeSoon, endWith, RouteResponse } from './response/send.ts';
import { createRouter, type EndpointPath } from './router.ts';
import { fileAddresses, type LinkSettings } from './urls.ts';

// Importing node:http as a module also loads its WebSocket client, which takes longer than the rest of the start.
const { createServer } = process.getBuiltinModule('node:http');

/**
 * The server closes a connection after this long without traffic. Load balancers close theirs after 60 seconds, and
 * should do so first.
 */
export const idleTimeoutSeconds = 65;

type RequestDeps = 'authorizer' | 'freeRequests' | 'origins' | 'nextRequestId' | 'requestLog' | 'connections';

interface HttpServerDeps extends Pick<AppDeps, RequestDeps | 'idleTimeoutMs' | 'endpointPath'> {
  app: App;
  live: LiveGateway;
  links: LinkSettings;
  /** Called for requests that cannot be parsed. */
  onMalformed: () => void;
  /** With a certificate, the server speaks only HTTPS. */
  certificate: CertificatePem | undefined;
}

type Options = ServerOptions<typeof IncomingMessage, typeof RouteResponse>;

export function createHttpServer(deps: HttpServerDeps): Server {
  const { app, authorizer, nextRequestId, onMalformed, idleTimeoutMs, endpointPath, certificate } = deps;
  const server = create(deps, {
    ServerResponse: RouteResponse,
    // The app rejects a missing Host, with an error body of our format.
    requireHostHeader: false,
    // Most requests have no body, and waiting for the end of an empty one is a tenth of their cost.
    optimizeEmptyRequests: true,
    // Otherwise Node would use the first of two Hosts, keys or content types, and a proxy may have used the last.
    joinDuplicateHeaders: true,
    headersTimeout: 15_000,
    requestTimeout: 5 * 60_000,
    // Off, because the timeout below covers it: two timers per request cost more than the limits.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: 16 * 1024,
    shouldUpgradeCallback: (raw) => isUpgrade(raw, endpointPath),
  });
  // Node emits `timeout` to the reader of a body (see `notifyBodyReader`) and closes other connections silently.
  server.timeout = idleTimeoutMs;
  const { serve, guard } = createPipeline((raw, response, awaitsContinue) => {
    app(raw, response as RouteResponse, awaitsContinue);
  });
  server.on(certificate ? 'secureConnection' : 'connection', guard);
  const serveWhole = (raw: IncomingMessage, response: RouteResponse) => serve(raw, response, false);
  server.on('request', serveWhole);
  server.on('checkContinue', (raw, response) => serve(raw, response, true));
  server.on('checkExpectation', serveWhole);

  async function refuse(socket: Duplex, reason: string): Promise<void> {
    const rateLines = await authorizer.rateLinesFor((socket as { remoteAddress?: string }).remoteAddress);
    // The client already has its response; whatever it sends after that is ignored.
    if (socket.writableEnded) return;
    if (!socket.writable) return void socket.destroy();
    onMalformed();
    // If another response is being sent, the client would read this one as part of its body.
    const within = currentResponse(socket);
    if (within?.headersSent && !within.writableFinished) return void closeSoon(socket.end());
    const id = nextRequestId();
    const reply = errorReply(new PoproomError('VALIDATION_FAILED', reason), id);
    endWith(socket, reply, linesWith(id) + rateLines);
  }
  server.on('upgrade', createUpgrade(deps));
  server.on('connect', (_, socket) => {
    // Node has removed its own listener, and an unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    void refuse(socket, 'This server is not a proxy and does not support CONNECT.');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || error.code === tooManyWaiting) socket.destroy();
    else if (error.code !== requestTimeout || !notifyBodyReader(socket)) {
      afterWaiting(socket, () => void refuse(socket, reasonOf(error.code)));
    }
  });
  return server;
}

function create({ certificate, endpointPath }: HttpServerDeps, options: Options): Server {
  if (!certificate) return createServer(options);
  const { createServer: createTlsServer } = process.getBuiltinModule('node:https');
  const server = createTlsServer({ ...options, ...certificate, minVersion: 'TLSv1.2', handshakeTimeout: 15_000 });
  answerPlainHttp(server, endpointPath);
  return server;
}

/** New connections use the new certificate. */
export function replaceCertificate(server: Server, certificate: CertificatePem): void {
  (server as TlsServer).setSecureContext({ ...certificate, minVersion: 'TLSv1.2' });
}

/** The error code when the pipeline has stopped the parser. */
const tooManyWaiting = 'HPE_CB_HEADERS_COMPLETE';
const requestTimeout = 'ERR_HTTP_REQUEST_TIMEOUT';

/** The reader of a body sends the response itself, so that nothing uses a late rest. False if there is no reader. */
function notifyBodyReader(socket: Duplex): boolean {
  const request = currentResponse(socket)?.req;
  return request !== undefined && !request.complete && request.emit('timeout', deadlinePassed);
}

function reasonOf(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The request headers are larger than 16 KiB.';
  if (code === requestTimeout) return tookTooLong;
  if (code === 'HPE_INVALID_METHOD') return 'The request method is not a known HTTP method.';
  return 'The request is not well-formed HTTP.';
}

/** The first byte of every TLS connection. */
const tlsHandshake = 0x16;
/** As long as Node waits for a TLS handshake. */
const firstByteTimeoutMs = 15_000;

/** Passes a connection on to TLS only if it starts like one. Otherwise browsers are redirected; programs get an error. */
function answerPlainHttp(server: Server, endpointPath: EndpointPath): void {
  const startTls = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    socket.on('error', () => socket.destroy());
    socket.setTimeout(firstByteTimeoutMs, () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.setTimeout(0).removeAllListeners('timeout');
      if (first[0] !== tlsHandshake) return void socket.end(replyTo(first.toString('latin1'), endpointPath));
      socket.pause().unshift(first);
      for (const start of startTls) start.call(server, socket);
    });
  });
}

/** Only what arrived first is read, which is the whole request of a browser. */
function replyTo(request: string, endpointPath: EndpointPath): string {
  const [, path] = /^(?:GET|HEAD) (\/[!-~]*) HTTP\/1\.[01]\r\n/.exec(request) ?? [];
  const [, host] = /\r\nHost: *([A-Za-z0-9.:[\]-]{1,260})\r\n/i.exec(request) ?? [];
  if (path === undefined || host === undefined || /^\/api(\/|$)/.test(endpointPath(path))) {
    return plainReply('400 Bad Request', [], 'This port requires HTTPS. Use https:// in the URL.');
  }
  return plainReply('308 Permanent Redirect', [`Location: https://${host}${path}`], 'Use HTTPS.');
}

function plainReply(status: string, headers: readonly string[], message: string): string {
  const body = `${JSON.stringify({ error: { code: 'VALIDATION_FAILED', message } })}\n`;
  const fixed = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
  return [`HTTP/1.1 ${status}`, ...fixed, 'Cache-Control: no-store', ...headers, '', body].join('\r\n');
}

const match = createRouter([{ ...endpoints.liveChannel, target: true }]);

const matchOf = ({ method = '', url = '' }: IncomingMessage, endpointPath: EndpointPath) =>
  match(method, endpointPath(pathOf(url)));

/** Whether this becomes a WebSocket. Requests for other protocols are served over HTTP/1.1. */
function isUpgrade(raw: IncomingMessage, endpointPath: EndpointPath): boolean {
  if (raw.method !== 'GET' || raw.headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return matchOf(raw, endpointPath).kind === 'found';
}

function createUpgrade(deps: HttpServerDeps) {
  const { authorizer, freeRequests, live, links, origins, nextRequestId, requestLog, connections, endpointPath } = deps;
  return async (raw: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const startedAt = performance.now();
    // Until the live channel takes over, nothing else handles errors, and an unhandled one would end the process.
    socket.on('error', onError);
    const id = givenRequestId(raw) ?? nextRequestId();
    let headerLines = linesWith(id);
    const found = matchOf(raw, endpointPath);
    const roomId = found.kind === 'found' ? (found.params.roomId ?? '') : '';
    const { path: route } = endpoints.liveChannel;
    const seen = { requestId: id, traceId: traceIdIn(raw), method: 'GET', route, startedAt };
    let client: ClientId | undefined;
    const record = (status: number, error?: unknown, respond?: () => void) => {
      const answered = { ...seen, client: client ?? authorizer.addressOf(raw), status, error };
      requestLog.answering(answered);
      respond?.();
      requestLog.answered(answered);
      connections?.answered(raw, answered);
    };
    try {
      connections?.begin(raw, route);
      // Browsers let any page open a WebSocket to any server. A foreign page must not use its visitor's access.
      const isForeign = isForeignOrigin(raw, origins);
      const resumeToken = isForeign ? undefined : freeRequests.resumeTokenIn(raw, roomId);
      const isFree = resumeToken === undefined ? undefined : freeRequests.takeResumed;
      const entry = { counted: !isForeign, alwaysOpen: false, isCrossSite: isForeign, isFree };
      const auth = await authorizer.authorize(raw, entry);
      client = auth.client;
      headerLines += auth.rateLines;
      const rejection = framingError(raw) ?? (isForeign ? foreignOrigin() : auth.refusal);
      if (rejection) throw rejection;
      checkHandshake(raw);
      const addresses = fileAddresses({ raw }, links);
      await live.openSocket({ raw, socket, head, client, roomId, headerLines, resumeToken, ...addresses });
      record(101);
    } catch (error) {
      const reply = errorReply(error, id);
      record(reply.status, error, () => endWith(socket, reply, headerLines));
    }
  };
}

/** The headers of a response without a route. */
const linesWith = (id: string) => linesOf({ ...corsHeaders, ...fixedHeaders, 'X-Request-Id': id });

/** One function for all connections: each open live channel keeps a reference to it. */
function onError(this: Duplex): void {
  this.destroy();
}

/** Rejects what the library would reject with its own wording, and a body, which it would read as the first message. */
function checkHandshake(raw: IncomingMessage): void {
  const { headers, httpVersion } = raw;
  if (headers['sec-websocket-version'] !== '13') {
    throw new PoproomError('UPGRADE_REQUIRED', 'The server supports only version 13 of WebSocket.');
  }
  const isOurs = httpVersion === '1.1' && !hasBody(raw);
  const hasKey = /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  if (isOurs && hasKey && areProtocols(headers['sec-websocket-protocol'])) return;
  throw new PoproomError('VALIDATION_FAILED', 'This is not a valid WebSocket handshake, version 13.');
}

/** Valid tokens without duplicates. */
function areProtocols(list: string | undefined): boolean {
  if (list === undefined) return true;
  const names = list.split(',').map((name) => name.trim());
  return new Set(names).size === names.length && names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name));
}
