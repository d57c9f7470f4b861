/**
 * Pipelined requests, which a client sends before it has read earlier responses. They are handled in sequence, so
 * that a connection has at most one response, one open file and one body. The rest of a body whose response has been sent
 * is read and discarded, at a limited rate in total.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { freeBuffer } from './garbage.ts';

/** Every connection may have this many waiting requests. */
const alwaysWaiting = 8;
/** In total; beyond it, a connection with 8 or more is closed. Node parses about 3,000 requests in one step. */
const maxWaiting = 10_000;

type Socket = IncomingMessage['socket'];
type Serve = (raw: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => void;

type Waiting = { raw: IncomingMessage; response: ServerResponse; awaitsContinue: boolean };

type OnIncoming = (raw: IncomingMessage, keepAlive: boolean) => number;
/** Node's parser does not know this return value and stops with a `clientError`. */
const parseError = 3;

/** Stored on the socket itself: a WeakMap costs more than the rest of this file. */
const current = Symbol('current response');
const waiting = Symbol('waiting requests');
const afterwards = Symbol('what follows them');
type PipelinedSocket = Socket & { [current]?: ServerResponse; [waiting]?: Waiting[]; [afterwards]?: () => void };

/** The current or latest response of the connection. */
export const currentResponse = (socket: object): ServerResponse | undefined => (socket as PipelinedSocket)[current];

/** Node resumes a connection after each response. */
function stayPaused(this: PipelinedSocket): void {
  if (this[waiting]?.length) this.pause();
}

/** Runs `work` after the waiting requests have been answered. */
export function afterWaiting(socket: object, work: () => void): void {
  const pipelined = socket as PipelinedSocket;
  if (pipelined[waiting]) pipelined[afterwards] = work;
  else work();
}

export function createPipeline(serve: Serve) {
  let total = 0;

  const isFull = (socket: PipelinedSocket) => total >= maxWaiting && (socket[waiting]?.length ?? 0) >= alwaysWaiting;

  function enqueue(socket: PipelinedSocket, request: Waiting): void {
    const others = socket[waiting];
    total += 1;
    // Read nothing more until all waiting requests have been answered.
    socket.pause();
    if (others) others.push(request);
    else {
      socket[waiting] = [request];
      socket.on('resume', stayPaused);
      continueAfter(socket, socket[current] as ServerResponse);
    }
  }

  function continueAfter(socket: PipelinedSocket, response: ServerResponse): void {
    response.once('close', () => {
      const next = socket.destroyed ? undefined : socket[waiting]?.shift();
      // If a request ends the connection, the next ones may be part of its body and are not served.
      if (next) total -= 1;
      if (!next || !response.shouldKeepAlive) return stopWaiting(socket);
      socket[current] = next.response;
      serve(next.raw, next.response, next.awaitsContinue);
      continueAfter(socket, next.response);
    });
  }

  function stopWaiting(socket: PipelinedSocket): void {
    total -= socket[waiting]?.length ?? 0;
    delete socket[waiting];
    socket.off('resume', stayPaused);
    if (socket.destroyed) return;
    socket.resume();
    socket[afterwards]?.();
  }

  return {
    serve(raw: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
      const socket = raw.socket as PipelinedSocket;
      const before = socket[current];
      if (socket.destroyed || before?.shouldKeepAlive === false) return;
      if (before && !before.writableFinished) enqueue(socket, { raw, response, awaitsContinue });
      else {
        socket[current] = response;
        serve(raw, response, awaitsContinue);
      }
    },

    /**
     * Call this for every connection. Node continues to parse what it has read, even if it is paused: 300 connections with
     * 64 KiB of requests each would take 800 MB until the next turn of the event loop. Only an error stops its parser.
     */
    guard(socket: Socket): void {
      const { parser } = socket as Socket & { parser?: { onIncoming?: OnIncoming | null } };
      const onIncoming = parser?.onIncoming;
      if (!onIncoming) return;
      parser.onIncoming = (raw, keepAlive) => (isFull(socket) ? parseError : onIncoming(raw, keepAlive));
    },
  };
}

const perConnection = 64 * 1024 * 1024;
const maxDrainMs = 2000;
/** Reading as fast as clients can send would keep the server busy. */
const perTick = 1024 * 1024;
const tickMs = 20;

let taken = 0;
let paused: IncomingMessage[] = [];

/** Resolves when the body has ended, or after `perConnection` bytes, or after `maxDrainMs`. */
export function drain(raw: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let dropped = 0;
    const timer = setTimeout(done, maxDrainMs);
    function done(): void {
      clearTimeout(timer);
      paused = paused.filter((other) => other !== raw);
      resolve();
    }
    raw.on('data', (chunk: Buffer) => {
      const bytes = chunk.length;
      dropped += bytes;
      freeBuffer(chunk);
      if (dropped > perConnection) done();
      else pace(raw, bytes);
    });
    raw.once('end', done).once('close', done).once('error', done).resume();
  });
}

function pace(raw: IncomingMessage, bytes: number): void {
  if (taken === 0) setTimeout(tick, tickMs);
  taken += bytes;
  if (taken <= perTick) return;
  raw.pause();
  paused.push(raw);
}

function tick(): void {
  taken = 0;
  for (const raw of paused.splice(0)) raw.resume();
}
