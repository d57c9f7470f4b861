/**
 * Requests that a client sends before it has read earlier responses. They are handled one after the other, so that a
 * connection never holds more than one response, one open file and one body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that any connection may have waiting. */
const alwaysWaiting = 8;
/** Over all connections; past it, a connection with more than its 8 is closed. Node parses some 3,000 in one step. */
const maxWaiting = 10_000;

export type Serve = (raw: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => void;

interface Waiting {
  raw: IncomingMessage;
  response: ServerResponse;
  awaitsContinue: boolean;
}

type OnIncoming = (raw: IncomingMessage, keepAlive: boolean) => number;
/** Node's parser does not know this return value, and stops: the connection gets a `clientError`. */
const parseError = 3;

/** Kept on the connection itself: a WeakMap beside it costs more than all else here. */
const current = Symbol('current response');
const waiting = Symbol('waiting requests');
const afterwards = Symbol('what follows them');
type PipelinedSocket = Socket & {
  [current]?: ServerResponse;
  [waiting]?: Waiting[];
  [afterwards]?: () => void;
};

/** The response that the connection is busy with, or was last. */
export const currentResponse = (socket: object): ServerResponse | undefined => (socket as PipelinedSocket)[current];

/** Node resumes a connection itself when a response has been taken. */
function stayPaused(this: PipelinedSocket): void {
  if (this[waiting]?.length) this.pause();
}

/** For what comes after the requests that wait: they are answered first. */
export function afterWaiting(socket: object, work: () => void): void {
  const pipelined = socket as PipelinedSocket;
  if (pipelined[waiting]) pipelined[afterwards] = work;
  else work();
}

export interface Pipeline {
  serve: Serve;
  /** To be called with every connection. */
  guard(socket: Socket): void;
}

export function createPipeline(serve: Serve): Pipeline {
  let total = 0;

  const isFull = (socket: PipelinedSocket) => total >= maxWaiting && (socket[waiting]?.length ?? 0) >= alwaysWaiting;

  function begin(
    socket: PipelinedSocket,
    raw: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): void {
    socket[current] = response;
    serve(raw, response, awaitsContinue);
  }

  function enqueue(socket: PipelinedSocket, request: Waiting): void {
    const others = socket[waiting];
    total += 1;
    // Nothing more is read until all that wait are answered.
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
      // Requests that follow one which ends the connection may be a part of it, and are not served.
      if (next) total -= 1;
      if (!next || !response.shouldKeepAlive) return stopWaiting(socket);
      begin(socket, next.raw, next.response, next.awaitsContinue);
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
    serve(raw, response, awaitsContinue) {
      const socket = raw.socket as PipelinedSocket;
      const before = socket[current];
      if (socket.destroyed || before?.shouldKeepAlive === false) return;
      if (before && !before.writableFinished) enqueue(socket, { raw, response, awaitsContinue });
      else begin(socket, raw, response, awaitsContinue);
    },

    /**
     * Node goes on parsing what it has read, whatever is done with the connection: 300 connections with 64 KiB of
     * requests each would take 800 MB until the next turn of the event loop. Only its parser can be told to stop.
     */
    guard(socket) {
      const { parser } = socket as Socket & { parser?: { onIncoming?: OnIncoming | null } };
      const onIncoming = parser?.onIncoming;
      if (!onIncoming) return;
      parser.onIncoming = (raw, keepAlive) => (isFull(socket) ? parseError : onIncoming(raw, keepAlive));
    },
  };
}
