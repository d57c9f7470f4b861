/** How the HTTP side hands connections over to the live channel, and neither knows the other. */
import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Caller } from './admission.ts';
import type { ClientId, StoredFile } from './ports.ts';

/** Where the files of a room are, as this client reaches the server. */
export interface FileAddresses {
  /** What all of them begin with; two clients with the same base have the same addresses. */
  linkBase: string;
  linkTo: (file: StoredFile) => string;
}

export interface JoinRequest extends FileAddresses {
  caller: Caller;
  deviceName: string | undefined;
  /** The seq that a client which reconnects has. */
  seq: number | undefined;
  /** Whether changes of the text are sent as edits. */
  edits: boolean;
  /** The version of the text that it has, and when that was written. */
  version: number | undefined;
  timestamp: string | undefined;
  /** A genuine one for a room of this code; see `resume-token.ts`. */
  resumeToken?: string | undefined;
}

export interface Upgrade extends FileAddresses {
  raw: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  client: ClientId;
  roomId: string;
  /** For the opening response. */
  headers: Record<string, string>;
  resumeToken: string | undefined;
}

export interface LiveGateway {
  /** The stream of a room's events; destroying it is leaving. */
  openEvents(client: ClientId, visitor: JoinRequest): Promise<Readable>;
  /** Takes over a connection that asks to become a WebSocket; rejects while it is still HTTP. */
  openSocket(upgrade: Upgrade): Promise<void>;
}
