/** The HTTP server itself: its bounds, and answers to what is not HTTP. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import type { App } from './app.ts';
import { tookTooLong } from './request/aborted.ts';
import { afterWaiting, createPipeline, currentResponse } from './request/pipeline.ts';
import { corsHeaders } from './response/cors.ts';
import { errorReply } from './response/error-reply.ts';
import { closeSoon, endWith } from './response/raw-response.ts';
import { fixedHeaders } from './response/reply.ts';
import { isUpgrade, type OnUpgrade } from './upgrade.ts';

// Imported as a module, node:http would load its WebSocket client too, which takes longer than the rest of the start.
const { createServer } = process.getBuiltinModule('node:http');

/**
 * A connection is closed when no byte has moved for this long. Load balancers keep one open for 60 seconds, and they
 * should be the ones to close it.
 */
export const idleTimeoutSeconds = 65;

export interface ListenParts {
  app: App;
  onUpgrade: OnUpgrade;
  nextRequestId: () => string;
  /** The rate headers of the peer, for requests that never become one. */
  headersFor: (address: string | undefined) => Promise<Record<string, string>>;
  /** For so long a connection may be silent. */
  idleTimeoutMs: number;
}

export function createHttpServer(parts: ListenParts): Server {
  const { app, onUpgrade, nextRequestId, headersFor, idleTimeoutMs } = parts;
  const server = createServer({
    // A missing Host is refused by the app, in our own shape.
    requireHostHeader: false,
    // Most requests have no body, and waiting for the end of nothing is a tenth of what they cost.
    optimizeEmptyRequests: true,
    // Otherwise the first of two Hosts, keys or content types would count, and a proxy may have looked at the last.
    joinDuplicateHeaders: true,
    headersTimeout: 15_000,
    requestTimeout: 5 * 60_000,
    // Left to the timeout below: two timers for each request cost more than the limits do.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: 16 * 1024,
    shouldUpgradeCallback: isUpgrade,
  });
  // Who reads a body then hears of it, as in `tellReader`; other connections Node closes without a word.
  server.timeout = idleTimeoutMs;
  const { serve, guard } = createPipeline((raw, response, awaitsContinue) => void app(raw, response, awaitsContinue));
  server.on('connection', guard);
  const serveWhole = (raw: IncomingMessage, response: ServerResponse) => serve(raw, response, false);
  server.on('request', serveWhole);
  server.on('checkContinue', (raw, response) => serve(raw, response, true));
  server.on('checkExpectation', serveWhole);

  async function refuse(socket: Duplex, reason: string): Promise<void> {
    const rateHeaders = await headersFor((socket as { remoteAddress?: string }).remoteAddress);
    // It has its answer, and what it sends after that is no better.
    if (socket.writableEnded) return;
    if (!socket.writable) return void socket.destroy();
    // Within another response, this one would be taken for a part of its body.
    const id = nextRequestId();
    const within = currentResponse(socket);
    if (within?.headersSent && !within.writableFinished) closeSoon(socket.end());
    else endWith(socket, refusal(reason, id), { ...corsHeaders, ...fixedHeaders, ...rateHeaders, 'X-Request-Id': id });
  }
  server.on('upgrade', (raw, socket, head) => void onUpgrade(raw, socket, head));
  server.on('connect', (_, socket) => {
    // Node has taken its own listener off, and an unheard error would end the process.
    socket.on('error', () => socket.destroy());
    void refuse(socket, 'This server is no proxy and does not take CONNECT.');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || error.code === tooManyWaiting) socket.destroy();
    else if (error.code !== requestTimeout || !tellReader(socket)) {
      afterWaiting(socket, () => void refuse(socket, reasonOf(error.code)));
    }
  });
  return server;
}

/** The pipeline has stopped the parser. */
const tooManyWaiting = 'HPE_CB_HEADERS_COMPLETE';
const requestTimeout = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Whoever reads a body answers for it, so that nothing is done with what may still come; false where nobody does. */
function tellReader(socket: Duplex): boolean {
  const request = currentResponse(socket)?.req;
  return request !== undefined && !request.complete && request.emit('timeout');
}

const refusal = (reason: string, id: string) => errorReply(new PoproomError('VALIDATION_FAILED', reason), id);

function reasonOf(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The headers of the request are over 16 KiB.';
  if (code === requestTimeout) return tookTooLong;
  if (code === 'HPE_INVALID_METHOD') return 'The request has a method that HTTP does not know.';
  return 'The request is not well-formed HTTP.';
}
