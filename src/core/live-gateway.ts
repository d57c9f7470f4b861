/** The interface between HTTP, the live channel and the metrics, which do not import each other. */
import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { ClientMessage, Closed, Join } from '../protocol/types.ts';
import type { Caller } from './admission.ts';
import type { ClientId } from './ports/basics.ts';
import type { StoredFile } from './ports/files.ts';
import type { StoredLink } from './ports/rooms.ts';
import type { RoomCode } from './room-code.ts';

/** The URLs of files, as this client reaches the server. */
export interface FileAddresses {
  /** The common prefix. Clients with the same base have the same URLs. */
  linkBase: string;
  linkTo: (file: Pick<StoredFile, 'id' | 'name'>) => string;
}

/** The fields of the message `join` that do not authorize the client. */
type Wishes = {
  [Name in Exclude<keyof Join, 'type' | 'pin' | 'auth' | 'deviceId' | 'diverged'>]?: Join[Name] | undefined;
};

export interface JoinRequest extends FileAddresses, Wishes {
  caller: Caller;
  /** A verified token for a room with this code; see `tokens.ts`. */
  resumeToken?: string | undefined;
}

export interface Upgrade extends FileAddresses {
  raw: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  client: ClientId;
  roomId: string;
  /** For the handshake response, each with its line break. */
  headerLines: string;
  resumeToken: string | undefined;
}

/** A client that has some versions of a text and waits for another one. */
export interface TextWait {
  code: RoomCode;
  link?: StoredLink | undefined;
  isKnown: (version: number) => boolean;
  /** Aborts when the time is over, or the client has disconnected. */
  signal: AbortSignal;
}

export interface LiveGateway {
  /** The event stream of a room. Destroying it leaves the room. */
  openEvents(client: ClientId, request: JoinRequest): Promise<Readable>;
  /** Upgrades a connection to a WebSocket. Rejections happen before the upgrade. */
  openSocket(upgrade: Upgrade): Promise<void>;
  /** Returns when the text may have changed, the room or the server ends, or the signal aborts. Counts as a channel. */
  waitForText(client: ClientId, wait: TextWait): Promise<void>;
}

/** A poll is a request that waits for a change of the text. */
type LiveTransport = 'websocket' | 'events' | 'poll';

/** Why a live channel ended: the client left, its room ended, or the server closed it. */
export type LeaveReason = 'left' | Closed['reason'] | 'too-slow' | 'no-heartbeat' | 'error';

export interface LiveMeter {
  opened(transport: LiveTransport): void;
  closed(transport: LiveTransport, reason: LeaveReason, seconds: number): void;
  /** A message was handled, successfully or not. */
  handled(type: ClientMessage['type'] | 'invalid', seconds: number): void;
  /** A message or a join was answered with an error, or the channel was closed because of too many messages. */
  refused(error: unknown): void;
  /** A client found that its text differs from that of the server. */
  diverged(): void;
}

const skip = () => undefined;
/** For a server without metrics. */
export const noLiveMeter: LiveMeter = { opened: skip, closed: skip, handled: skip, refused: skip, diverged: skip };
