/** The HTTP server: its limits, and responses to malformed requests. */
import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterWaiting, createPipeline, currentResponse } from '../core/defence/pipeline.ts';
import { PoproomError } from '../core/errors.ts';
import type { App, AppDeps } from './app.ts';
import type { CertificatePem } from './certificate.ts';
import { deadlinePassed, tookTooLong } from './request/body.ts';
import { corsHeaders, errorReply, fixedHeaders } from './response/reply.ts';
import { closeSoon, endWith, RouteResponse } from './response/send.ts';
import type { EndpointPath } from './router.ts';
import { isUpgrade, type OnUpgrade } from './upgrade.ts';

// Importing node:http as a module also loads its WebSocket client, which takes longer than the rest of the start.
const { createServer } = process.getBuiltinModule('node:http');

/**
 * The server closes a connection after this long without traffic. Load balancers close theirs after 60 seconds, and
 * should do so first.
 */
export const idleTimeoutSeconds = 65;

interface HttpServerDeps
  extends Pick<AppDeps, 'nextRequestId' | 'idleTimeoutMs' | 'endpointPath'>,
    Pick<AppDeps['authorizer'], 'headersFor'> {
  app: App;
  onUpgrade: OnUpgrade;
  /** Called for requests that cannot be parsed. */
  onMalformed: () => void;
  /** With a certificate, the server speaks only HTTPS. */
  certificate: CertificatePem | undefined;
}

type Options = ServerOptions<typeof IncomingMessage, typeof RouteResponse>;

export function createHttpServer(deps: HttpServerDeps): Server {
  const { app, onUpgrade, nextRequestId, headersFor, onMalformed, idleTimeoutMs, endpointPath, certificate } = deps;
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
    const rateHeaders = await headersFor((socket as { remoteAddress?: string }).remoteAddress);
    // The client already has its response; whatever it sends after that is ignored.
    if (socket.writableEnded) return;
    if (!socket.writable) return void socket.destroy();
    onMalformed();
    // If another response is being sent, the client would read this one as part of its body.
    const id = nextRequestId();
    const within = currentResponse(socket);
    if (within?.headersSent && !within.writableFinished) closeSoon(socket.end());
    else endWith(socket, refusal(reason, id), { ...corsHeaders, ...fixedHeaders, ...rateHeaders, 'X-Request-Id': id });
  }
  server.on('upgrade', (raw, socket, head) => void onUpgrade(raw, socket, head));
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

const refusal = (reason: string, id: string) => errorReply(new PoproomError('VALIDATION_FAILED', reason), id);

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

type OnConnection = (socket: Socket) => void;

/** Passes a connection on to TLS only if it starts like one. Otherwise browsers are redirected; programs get an error. */
function answerPlainHttp(server: Server, endpointPath: EndpointPath): void {
  const startTls = server.listeners('connection') as OnConnection[];
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
