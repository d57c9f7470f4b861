/** One WebSocket to a room: opened, joined, and closed when nothing is heard any more. */
import type { ClientMessage, Join, ServerMessage } from '../protocol/types.ts';
import { invalidMessage, PoproomError, unreachable } from './error.ts';
import { createInbox } from './inbox.ts';
import { parseMessage } from './parse-message.ts';

/** The server speaks every 25 seconds; twice that long without a word, and the line is dead. */
const silenceMs = 55_000;
const openWithinMs = 8_000;
/** What a socket says of an end that nobody announced. */
const brokenOff = 1006;
/** A sleeping device wakes up to a line that has missed a word of the server. */
const freshMs = 27_000;
/** UTF-16 code units of messages that wait for a slow program. */
const maxUnread = 64 * 1024 * 1024;

export interface Connection {
  messages: AsyncIterable<ServerMessage>;
  send(message: ClientMessage): void;
  /** Whether the other side has spoken lately enough to be trusted to be there. */
  isFresh(): boolean;
  /** Whether it was the other side that ended it, and in order. */
  wasClosed(): boolean;
  /** Why this side ended it: a message that the protocol does not have. */
  violation(): PoproomError | undefined;
  close(): void;
}

export interface Connecting {
  /** Only outside browsers, whose sockets cannot carry any. */
  headers: Readonly<Record<string, string>>;
  /** Subprotocols to offer. */
  protocols: string[];
  /** Gives up, and closes what is open. */
  signal: AbortSignal;
  /** Told of each message when it comes; what it takes is not put among the messages. */
  takes: (message: ServerMessage) => boolean;
  /** Told once that nothing more comes, whether or not anyone is reading the messages. */
  ended: () => void;
}

/** Fails when the channel does not open, for whatever reason: a browser does not tell which. */
export function connect(url: string, join: Join, connecting: Connecting): Promise<Connection> {
  const { signal, takes, ended } = connecting;
  if (signal.aborted) return Promise.reject(unreachable(signal.reason));
  const socket = openSocket(url.replace(/^http/, 'ws'), connecting);
  const inbox = createInbox<ServerMessage>();
  let heardAt = Date.now();
  const watch = setInterval(() => {
    if (Date.now() - heardAt > silenceMs) close();
  }, 5_000);

  // A line that is gone does not answer a close, so the end is not waited for.
  let isEnded = false;
  let wasClosed = false;
  let violation: PoproomError | undefined;
  function close(): void {
    clearInterval(watch);
    if (!isEnded) ended();
    isEnded = true;
    inbox.end();
    socket.close();
  }

  const connection: Connection = {
    messages: inbox,
    send: (message) => socket.send(JSON.stringify(message)),
    isFresh: () => socket.readyState === WebSocket.OPEN && Date.now() - heardAt < freshMs,
    wasClosed: () => wasClosed,
    violation: () => violation,
    close,
  };

  /** Passes a message on. One that the protocol does not have must not end this program, but the connection. */
  function receive(data: string): void {
    try {
      const message = parseMessage(data);
      if (message && !takes(message)) inbox.put(message, data.length);
      // Those that wait are still read; joining again tells what came after them.
      if (inbox.size > maxUnread) close();
    } catch (error) {
      violation = error instanceof PoproomError ? error : invalidMessage('a message that does not fit', error);
      close();
    }
  }

  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(tooLate);
      close();
      reject(unreachable());
    };
    const tooLate = setTimeout(giveUp, openWithinMs);
    signal.addEventListener('abort', giveUp);
    socket.onopen = () => {
      clearTimeout(tooLate);
      connection.send(join);
      resolve(connection);
    };
    socket.onmessage = ({ data }) => {
      // One that was given up may still have something to say, when another speaks already.
      if (isEnded) return;
      heardAt = Date.now();
      receive(String(data));
    };
    socket.onclose = ({ code }) => {
      wasClosed = !isEnded && code !== brokenOff;
      giveUp();
    };
  });
}

function openSocket(url: string, { headers, protocols }: Connecting): WebSocket {
  if (Object.keys(headers).length === 0 || 'document' in globalThis) return new WebSocket(url, protocols);
  // Beyond the standard, as Node, Deno and Bun have it; a browser would take it for the name of a protocol.
  return new WebSocket(url, { headers, protocols } as unknown as string[]);
}
