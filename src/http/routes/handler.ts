/** The type of handlers, what they use, and the form that several have. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../core/admission.ts';
import type { Creation } from '../../core/creation.ts';
import type { Claims, Files } from '../../core/files/files.ts';
import type { FileSpace } from '../../core/files/space.ts';
import type { Uploads } from '../../core/files/uploads.ts';
import type { Zips } from '../../core/files/zips.ts';
import type { Idempotency } from '../../core/idempotency.ts';
import type { Links } from '../../core/links.ts';
import type { LiveGateway } from '../../core/live-gateway.ts';
import type { ClientId, MaybePromise } from '../../core/ports/basics.ts';
import type { Reports } from '../../core/reports.ts';
import type { Rooms } from '../../core/rooms.ts';
import type { Webhooks } from '../../core/webhooks/webhooks.ts';
import type { EndpointName } from '../../protocol/endpoints.ts';
import type { RoomLimits } from '../../protocol/limits.ts';
import type { AdminOperations } from '../admin/admin-interface.ts';
import type { PageFiles } from '../page/page-files.ts';
import type { ServerLimits } from '../page/server-limits.ts';
import type { OwnOrigins } from '../request/authorize.ts';
import { readCaller } from '../request/parse-body.ts';
import type { Request } from '../request/request.ts';
import { confirmation, type Reply } from '../response/reply.ts';
import type { LinkSettings } from '../urls.ts';
import type { Probes } from './probes.ts';

export type Handler = (request: Request) => MaybePromise<Reply>;

/** For an operation whose response is a sentence. The body of the request may contain a PIN and nothing else. */
export const confirmed =
  (message: string, operate: (caller: Caller, params: Request['params']) => Promise<unknown>): Handler =>
  async (request) => {
    await operate(await readCaller(request), request.params);
    return confirmation(message);
  };

/** One for each endpoint: a missing handler does not compile. */
export type Handlers = Record<EndpointName, Handler>;

export interface HandlerDeps {
  rooms: Rooms;
  creation: Creation;
  /** The user of a request, if a trusted proxy named one. */
  userOf(raw: IncomingMessage): string | undefined;
  /** Links with a role; `links` are URLs. */
  roomLinks: Links;
  files: Files;
  uploads: Uploads;
  claims: Claims;
  zips: Zips;
  webhooks: Webhooks;
  /** Undefined if the operator takes no reports. */
  reports: Reports | undefined;
  space: FileSpace;
  idempotency: Idempotency;
  probes: Probes;
  live: LiveGateway;
  links: LinkSettings;
  /** Pages of other origins may not open live channels. */
  origins: OwnOrigins;
  /** Fails with `NOT_FOUND` if the page was not built. */
  page: () => Promise<PageFiles>;
  /** For the documentation. */
  serverLimits: ServerLimits;
  largestContent: number;
  limits: RoomLimits;
  storedBytes(client: ClientId): Promise<number>;
  /** The text of /metrics; undefined if metrics are disabled. */
  metrics: (() => Promise<string>) | undefined;
  metricsToken: string | undefined;
  /** Undefined if there is no admin token. */
  admin: AdminOperations | undefined;
}
