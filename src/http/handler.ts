/** What handlers are, and what they have at hand. */
import type { Files } from '../core/files.ts';
import type { LiveDoor } from '../core/live-door.ts';
import type { Soon } from '../core/ports.ts';
import type { Rooms } from '../core/rooms.ts';
import type { EndpointName } from '../protocol/endpoints.ts';
import type { LinkSettings } from './links.ts';
import type { PageSettings } from './page-files.ts';
import type { Probes } from './probes.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';

export type Handler = (request: Request) => Soon<Reply>;

/** One for each endpoint of the protocol: a missing one does not compile. */
export type Handlers = Record<EndpointName, Handler>;

export interface Service {
  rooms: Rooms;
  files: Files;
  probes: Probes;
  live: LiveDoor;
  links: LinkSettings;
  page: PageSettings;
  largestContent: number;
  /** The text of /metrics; undefined when it is switched off. */
  metrics: (() => Promise<string>) | undefined;
}
