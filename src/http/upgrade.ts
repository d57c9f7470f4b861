/** WebSocket upgrades: authorized like every request, then passed to the live channel. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import type { LiveGateway } from '../core/live-gateway.ts';
import type { ClientId } from '../core/ports/basics.ts';
import { endpoints } from '../protocol/endpoints.ts';
import type { AppDeps } from './app.ts';
import { foreignOrigin, isForeignOrigin } from './request/authorize.ts';
import { framingError, givenRequestId, hasBody, pathOf, traceIdIn } from './request/request.ts';
import { corsHeaders, errorReply, fixedHeaders } from './response/reply.ts';
import { endWith } from './response/send.ts';
import { createRouter, type EndpointPath } from './router.ts';
import { fileAddresses, type LinkSettings } from './urls.ts';

const match = createRouter([{ ...endpoints.liveChannel, target: true }]);

const matchOf = ({ method = '', url = '' }: IncomingMessage, endpointPath: EndpointPath) =>
  match(method, endpointPath(pathOf(url)));

/** Whether this becomes a WebSocket. Requests for other protocols are served over HTTP/1.1. */
export function isUpgrade(raw: IncomingMessage, endpointPath: EndpointPath): boolean {
  if (raw.method !== 'GET' || raw.headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return matchOf(raw, endpointPath).kind === 'found';
}

type RequestDeps = 'authorizer' | 'freeRequests' | 'origins' | 'nextRequestId' | 'requestLog' | 'connections';

interface UpgradeDeps extends Pick<AppDeps, RequestDeps | 'endpointPath'> {
  live: LiveGateway;
  links: LinkSettings;
}

export type OnUpgrade = (raw: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;

export function createUpgrade(deps: UpgradeDeps): OnUpgrade {
  const { authorizer, freeRequests, live, links, origins, nextRequestId, requestLog, connections, endpointPath } = deps;
  return async (raw, socket, head) => {
    const startedAt = performance.now();
    // Until the live channel takes over, nothing else handles errors, and an unhandled one would end the process.
    socket.on('error', onError);
    const id = givenRequestId(raw) ?? nextRequestId();
    const headers: Record<string, string> = { ...corsHeaders, ...fixedHeaders, 'X-Request-Id': id };
    const found = matchOf(raw, endpointPath);
    const roomId = found.kind === 'found' ? (found.params.roomId ?? '') : '';
    const { path: route } = endpoints.liveChannel;
    const seen = { requestId: id, traceId: traceIdIn(raw), method: 'GET', route, startedAt };
    let client: ClientId | undefined;
    try {
      connections?.begin(raw, route);
      // Browsers let any page open a WebSocket to any server. A foreign page must not use its visitor's access.
      const isForeign = isForeignOrigin(raw, origins);
      const resumeToken = isForeign ? undefined : freeRequests.resumeTokenIn(raw, roomId);
      const isFree = resumeToken === undefined ? undefined : freeRequests.takeResumed;
      const entry = { counted: !isForeign, alwaysOpen: false, isCrossSite: isForeign, isFree };
      const auth = await authorizer.authorize(raw, entry);
      client = auth.client;
      Object.assign(headers, auth.headers);
      const rejection = framingError(raw) ?? (isForeign ? foreignOrigin() : auth.refusal);
      if (rejection) throw rejection;
      checkHandshake(raw);
      const addresses = fileAddresses({ raw }, links);
      await live.openSocket({ raw, socket, head, client, roomId, headers, resumeToken, ...addresses });
      const answered = { ...seen, client, status: 101, error: undefined };
      requestLog.answering(answered);
      requestLog.answered(answered);
      connections?.answered(raw, answered);
    } catch (error) {
      const reply = errorReply(error, id);
      const answered = { ...seen, client: client ?? authorizer.addressOf(raw), status: reply.status, error };
      requestLog.answering(answered);
      endWith(socket, reply, headers);
      requestLog.answered(answered);
      connections?.answered(raw, answered);
    }
  };
}

/** One function for all connections: each open live channel keeps a reference to it. */
function onError(this: Duplex): void {
  this.destroy();
}

/** Rejects what the library would reject with its own wording, and a body, which it would read as the first message. */
function checkHandshake(raw: IncomingMessage): void {
  const { headers, httpVersion } = raw;
  if (headers['sec-websocket-version'] !== '13') {
    throw new PoproomError('UPGRADE_REQUIRED', 'The server supports only version 13 of WebSocket.');
  }
  const isOurs = httpVersion === '1.1' && !hasBody(raw);
  const hasKey = /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  if (isOurs && hasKey && areProtocols(headers['sec-websocket-protocol'])) return;
  throw new PoproomError('VALIDATION_FAILED', 'This is not a valid WebSocket handshake, version 13.');
}

/** Valid tokens without duplicates. */
function areProtocols(list: string | undefined): boolean {
  if (list === undefined) return true;
  const names = list.split(',').map((name) => name.trim());
  return new Set(names).size === names.length && names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name));
}
