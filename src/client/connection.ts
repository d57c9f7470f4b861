/** One WebSocket to a room, and what belongs to it: its messages, the writes that wait for a response, and the resume token. */
import { type CloseCode, keyPrefix, liveProtocol, resumePrefix, resumeTokenTtlMs } from '../protocol/live-protocol.ts';
import type { ClientMessage, Join, ServerMessage } from '../protocol/types.ts';
import { invalidMessage, PoproomError, type PoproomErrorCode } from './error.ts';
import { messageChecks } from './response-checks.ts';
import { isObject, isToken, parseJson } from './shapes.ts';

/** The server sends a heartbeat every 25 seconds. After two missed ones, the connection is dead. */
const idleTimeoutMs = 55_000;
const idleCheckMs = 5_000;
const openTimeoutMs = 8_000;
/** Close code of a connection that ended without a close frame. */
const abnormalClosure = 1006;
const tooFast = 4429 satisfies CloseCode;
/** After more than one heartbeat interval without a message, as after sleep, the connection may be dead. */
const freshMs = 27_000;

export interface Connection {
  send(message: ClientMessage): void;
  /** Whether the server has sent something recently. */
  isFresh(): boolean;
}

/**
 * - `closed`: the server closed the connection;
 * - `limited`: the server closed it because this side sends too many messages, or reads too slowly;
 * - `lost`: it broke, the server stopped sending, or this side closed it;
 * - an error: the protocol violation because of which this side closed it.
 */
export type ConnectionEnd = 'closed' | 'limited' | 'lost' | PoproomError;

interface ConnectOptions {
  /** Ignored in browsers, whose WebSocket cannot send headers. */
  headers: Readonly<Record<string, string>>;
  /** Subprotocols to offer. */
  protocols: string[];
  /** Aborts opening, and closes an open connection. */
  signal: AbortSignal;
  /** Called when `join` was sent. */
  onOpen: (connection: Connection) => void;
  /** Called with each message and its length. If it throws, the connection ends with a protocol violation. */
  onMessage: (message: ServerMessage, length: number) => void;
  /** Called once, also if the connection never opened. Browsers do not reveal the reason for that. */
  onEnd: (end: ConnectionEnd) => void;
}

type SocketState =
  | { name: 'opening'; timer: ReturnType<typeof setTimeout> }
  | { name: 'open'; timer: ReturnType<typeof setInterval>; lastMessageAt: number }
  | { name: 'ended' };

/** `join` may follow the opening of the connection. If it fails, the caller must abort the connection. */
export function connect(url: string, join: Promise<Join>, options: ConnectOptions): void {
  const { signal, onOpen, onMessage, onEnd } = options;
  const socket = openSocket(url.replace(/^http/, 'ws'), options);
  let state: SocketState = { name: 'opening', timer: setTimeout(() => end('lost'), openTimeoutMs) };
  signal.addEventListener('abort', () => end('lost'));

  socket.onopen = () => {
    if (state.name !== 'opening') return;
    clearTimeout(state.timer);
    join.then(sendJoin, () => undefined);
  };

  function sendJoin(join: Join): void {
    if (state.name !== 'opening') return;
    state = { name: 'open', timer: setInterval(checkIdle, idleCheckMs), lastMessageAt: Date.now() };
    const send = (message: ClientMessage) => socket.send(JSON.stringify(message));
    send(join);
    onOpen({ send, isFresh: () => socket.readyState === WebSocket.OPEN && idleMs() < freshMs });
  }

  socket.onmessage = ({ data }) => {
    // A closed socket may still deliver messages while the next one is already in use.
    if (state.name !== 'open') return;
    state.lastMessageAt = Date.now();
    const text = String(data);
    try {
      const message = parseMessage(text);
      if (message) onMessage(message, text.length);
    } catch (error) {
      // A malformed message must end the connection, not the program.
      end(error instanceof PoproomError ? error : invalidMessage('a message that cannot be applied', error));
    }
  };

  socket.onclose = ({ code }) => end(code === abnormalClosure ? 'lost' : code === tooFast ? 'limited' : 'closed');

  const idleMs = () => (state.name === 'open' ? Date.now() - state.lastMessageAt : Number.POSITIVE_INFINITY);

  function checkIdle(): void {
    if (idleMs() > idleTimeoutMs) end('lost');
  }

  /** A dead connection does not confirm a close, so do not wait for it. */
  function end(how: ConnectionEnd): void {
    const previous = state;
    if (previous.name === 'ended') return;
    state = { name: 'ended' };
    clearInterval(previous.timer);
    socket.close();
    onEnd(how);
  }
}

function openSocket(url: string, { headers, protocols }: ConnectOptions): WebSocket {
  const { Authorization: bearer } = headers;
  if (!bearer) return new WebSocket(url, protocols);
  const withKey = [liveProtocol, ...protocols.slice(1), keyPrefix + bearer.slice('Bearer '.length)];
  // Headers are an extension of Node, Deno and Bun. A browser would take the object for a subprotocol name.
  return new WebSocket(url, 'document' in globalThis ? withKey : ({ headers, protocols } as unknown as string[]));
}

/** Parses and checks a message. Returns undefined for an unknown type, as from a newer server. Throws for anything malformed. */
function parseMessage(data: string): ServerMessage | undefined {
  const message = parseJson(data);
  const type = isObject(message) && (message as Partial<ServerMessage>).type;
  if (typeof type !== 'string') throw invalidMessage('something that is not a message');
  const isValid = messageChecks.get(type);
  if (!isValid) return undefined;
  if (!isValid(message)) throw invalidMessage(`a malformed "${type}" message`);
  return message as ServerMessage;
}

export type WriteAnswer = Extract<ServerMessage, { type: 'written' | 'conflict' }>;

/** Writes that were sent and are not answered yet. */
export function createWrites() {
  const waiting = new Map<string, PromiseWithResolvers<WriteAnswer>>();
  let count = 0;

  return {
    send(connection: Connection, content: string, baseVersion: number): Promise<WriteAnswer> {
      const ref = String(++count);
      const answer = Promise.withResolvers<WriteAnswer>();
      waiting.set(ref, answer);
      connection.send({ type: 'content', content, baseVersion, ref });
      return answer.promise;
    },

    /** Settles the write that the message is the response to, if any. */
    onMessage(message: ServerMessage): void {
      // Edits of other devices may have the same ref.
      if (!('ref' in message) || message.type === 'edit' || message.type === 'sealed-edit') return;
      const { ref = '' } = message;
      const answer = waiting.get(ref);
      waiting.delete(ref);
      if (message.type === 'error') answer?.reject(toError(message));
      else answer?.resolve(message);
    },

    /** Rejects all writes, because no response will arrive. They may have been stored. */
    fail(error: PoproomError): void {
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
  };
}

export const toError = ({ error }: Extract<ServerMessage, { type: 'error' }>): PoproomError =>
  new PoproomError(error.code as PoproomErrorCode, error.message, { details: error.details });

/** After this many refusals in a row by a reachable server, the token is considered invalid. */
const maxRefusals = 3;

export type ResumeToken = ReturnType<typeof createResumeToken>;

/** Resumes a live channel. A resumed channel does not count as a request. */
export function createResumeToken(given: string | undefined, onNew: (token: string) => void = () => {}) {
  /** A token that the server may still accept, and how often in a row it did not. */
  let usable: { token: string; receivedAt: number; refusals: number } | undefined;
  if (isToken(given)) keep(given);

  function keep(token: string): void {
    usable = { token, receivedAt: Date.now(), refusals: 0 };
  }

  return {
    /** The WebSocket subprotocols that present the token; undefined if there is none that may be valid. */
    protocols(): string[] | undefined {
      if (usable && Date.now() - usable.receivedAt > resumeTokenTtlMs) usable = undefined;
      return usable && [liveProtocol, resumePrefix + usable.token];
    },

    /** Stores the token of a message and removes it from the message, because programs log messages. */
    takeFrom(message: ServerMessage): void {
      if (!('resumeToken' in message)) return;
      const { resumeToken } = message;
      delete message.resumeToken;
      if (resumeToken === undefined) return;
      keep(resumeToken);
      onNew(resumeToken);
    },

    /** Returns whether to try again with the token. */
    onRefused(): boolean {
      if (usable && ++usable.refusals >= maxRefusals) usable = undefined;
      return usable !== undefined;
    },
  };
}
