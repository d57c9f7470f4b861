/** The HTTP endpoints of the live channel. */

import { PoproomError } from '../../core/errors.ts';
import { deviceNameTooLong, maxDeviceNameLength } from '../../core/names.ts';
import { foreignOrigin, isForeignOrigin } from '../request/authorize.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { fileAddresses } from '../urls.ts';
import type { Handler, HandlerDeps } from './handler.ts';

const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies that buffer responses would delay events.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};

export const liveHandlers = (deps: HandlerDeps) => ({
  roomEvents: roomEvents(deps),
  liveChannel: liveChannel(deps),
});

const roomEvents =
  ({ live, links, rooms }: HandlerDeps): Handler =>
  async (request) => {
    const caller = callerOf(request);
    const visitor = {
      caller: { ...caller, deviceId: caller.deviceId ?? request.query.get('deviceId') ?? undefined },
      deviceName: deviceName(request.query.get('deviceName')),
      carets: request.query.get('carets') === 'true',
      seq: lastSeq(request),
      edits: false,
      version: undefined,
      timestamp: undefined,
      resumeToken: request.resumeToken,
      ...fileAddresses(request, links),
    };
    if (request.raw.method === 'HEAD') {
      await rooms.access(visitor.caller, 'followRoom');
      return { status: 200, headers: streamHeaders };
    }
    // Clients of an event stream send nothing, so only TCP keepalive detects a lost one, before a heartbeat resets it.
    request.raw.socket.setKeepAlive(true, 10_000);
    return { status: 200, headers: streamHeaders, body: await live.openEvents(request.client, visitor) };
  };

/**
 * Requests without an upgrade, for example from the address bar of a browser. Browsers hide from a page why a WebSocket
 * was refused, so a page of another origin learns it here.
 */
const liveChannel =
  ({ origins }: HandlerDeps): Handler =>
  async ({ raw }) => {
    if (isForeignOrigin(raw, origins)) throw foreignOrigin();
    throw new PoproomError(
      'UPGRADE_REQUIRED',
      'This endpoint requires a WebSocket. Use /events to follow a room over plain HTTP.',
    );
  };

function lastSeq({ raw, query }: Request): number | undefined {
  const text = header(raw, 'last-event-id') ?? query.get('lastEventId');
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function deviceName(text: string | null): string | undefined {
  if (!text) return undefined;
  if (text.length <= maxDeviceNameLength) return text;
  throw deviceNameTooLong();
}
