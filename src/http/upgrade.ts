/** Connections that ask to become a WebSocket: through the gate like every request, then over to the live channel. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import type { LiveDoor } from '../core/live-door.ts';
import type { ClientId } from '../core/ports.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { corsHeaders } from './cors.ts';
import { isForeignOrigin, type OwnOrigins } from './cross-site.ts';
import { errorReply } from './error-reply.ts';
import { fixedHeaders } from './fixed-headers.ts';
import type { Gate } from './gate.ts';
import { headFlaw } from './head-flaw.ts';
import { fileAddresses, type LinkSettings } from './links.ts';
import { endWith } from './raw-response.ts';
import { hasBody, pathOf } from './request.ts';
import { isFailure, type RequestRecord } from './request-record.ts';
import type { Resumption } from './resumption.ts';
import { createRouter } from './router.ts';

const match = createRouter([{ ...endpoints.liveChannel, target: true }]);

/** Whether this becomes a WebSocket. Whatever else asks for another protocol is served over the one that it came by. */
export function isUpgrade({ method, url, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return match(method, pathOf(url ?? '')).kind === 'found';
}

export interface UpgradeParts {
  gate: Gate;
  resumption: Resumption;
  live: LiveDoor;
  links: LinkSettings;
  origins: OwnOrigins;
  nextRequestId: () => string;
  requestRecord: RequestRecord;
}

export type OnUpgrade = (raw: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;

export function createUpgrade(parts: UpgradeParts): OnUpgrade {
  const { gate, resumption, live, links, origins, nextRequestId, requestRecord } = parts;
  return async (raw, socket, head) => {
    const startedAt = performance.now();
    // Until the channel takes it over, nobody else listens, and an unheard error would end the process.
    socket.on('error', onError);
    const id = nextRequestId();
    const headers: Record<string, string> = { ...corsHeaders, ...fixedHeaders, 'X-Request-Id': id };
    const found = match(raw.method ?? '', pathOf(raw.url ?? ''));
    const roomId = found.kind === 'found' ? (found.params.roomId ?? '') : '';
    const seen = { requestId: id, method: 'GET', route: endpoints.liveChannel.path, startedAt };
    let client: ClientId | undefined;
    try {
      // Browsers let any page open a WebSocket anywhere; a stranger's page must not do so in its visitor's name.
      const isForeign = isForeignOrigin(raw, origins);
      const resumeToken = isForeign ? undefined : resumption.tokenIn(raw, roomId);
      const isFree = resumeToken === undefined ? undefined : resumption.take;
      const pass = await gate.pass(raw, { counted: !isForeign, alwaysOpen: false, isCrossSite: isForeign, isFree });
      const { headers: rate, refusal } = pass;
      client = pass.client;
      Object.assign(headers, rate);
      const flaw = headFlaw(raw) ?? (isForeign ? foreignOrigin() : refusal);
      if (flaw) throw flaw;
      checkHandshake(raw);
      await live.openSocket({
        raw,
        socket,
        head,
        client,
        roomId,
        headers,
        resumeToken,
        ...fileAddresses({ raw }, links),
      });
      requestRecord.answered({ ...seen, client, status: 101, error: undefined });
    } catch (error) {
      const reply = errorReply(error, id);
      const answered = { ...seen, client: client ?? gate.addressOf(raw), status: reply.status, error };
      if (isFailure(answered)) requestRecord.failed(answered);
      endWith(socket, reply, headers);
      requestRecord.answered(answered);
    }
  };
}

/** One function for all connections: a live channel holds on to it for as long as it is open. */
function onError(this: Duplex): void {
  this.destroy();
}

/** All that the library would refuse in words of its own; and a body, which it would take for the first message. */
function checkHandshake(raw: IncomingMessage): void {
  const { headers, httpVersion } = raw;
  const isOurs = headers['sec-websocket-version'] === '13' && httpVersion === '1.1' && !hasBody(raw);
  const hasKey = /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  if (isOurs && hasKey && areProtocols(headers['sec-websocket-protocol'])) return;
  throw new PoproomError('VALIDATION_FAILED', 'This is not a WebSocket handshake of version 13.');
}

/** Names, none of them twice. */
function areProtocols(list: string | undefined): boolean {
  if (list === undefined) return true;
  const names = list.split(',').map((name) => name.trim());
  return new Set(names).size === names.length && names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name));
}

function foreignOrigin(): PoproomError {
  return new PoproomError('VALIDATION_FAILED', 'Pages of this origin may not open live channels here.', {
    details: { field: 'Origin' },
  });
}
