/** What handlers are, and what they have at hand. */
import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Caller } from '../core/admission.ts';
import type { Files } from '../core/files.ts';
import type { ClientId } from '../core/ports.ts';
import type { Rooms } from '../core/rooms.ts';
import type { EndpointName } from '../protocol/endpoints.ts';
import type { FileLink, LinkSettings } from './links.ts';
import type { Probes } from './probes.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';

export type Handler = (request: Request) => Promise<Reply>;

/** One for each endpoint of the protocol: a missing one does not compile. */
export type Handlers = Record<EndpointName, Handler>;

/** The live channel, as this side needs it. */
export interface Live {
  /** The stream of a room's events. */
  openEvents(client: ClientId, visitor: LiveVisitor): Promise<Readable>;
  /** Takes over a connection that asks to become a WebSocket; rejects while it is still HTTP. */
  openSocket(upgrade: LiveUpgrade): Promise<void>;
}

export interface LiveVisitor {
  caller: Caller;
  deviceName: string | undefined;
  seq: number | undefined;
  linkBase: string;
  linkTo: FileLink;
}

export interface LiveUpgrade {
  raw: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  client: ClientId;
  roomId: string;
  headers: Record<string, string>;
  linkBase: string;
  linkTo: FileLink;
}

export interface Service {
  rooms: Rooms;
  files: Files;
  probes: Probes;
  live: Live;
  links: LinkSettings;
  largestContent: number;
  /** The text of /metrics; undefined when it is switched off. */
  metrics: (() => Promise<string>) | undefined;
}
