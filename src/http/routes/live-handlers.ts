/** The HTTP endpoints of the live channel. */
import { PoproomError } from '../../core/errors.ts';
import { deviceNameTooLong, maxDeviceNameLength } from '../../core/names.ts';
import { foreignOrigin, isForeignOrigin } from '../request/authorize.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { fileAddresses } from '../urls.ts';
import type { HandlerDeps, Handlers } from './handler.ts';

const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies that buffer responses would delay events.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};

export const liveHandlers = ({ live, links, rooms, origins }: HandlerDeps) =>
  ({
    async roomEvents(request) {
      const { raw, query, client, resumeToken } = request;
      const caller = callerOf(request);
      const visitor = {
        caller: { ...caller, deviceId: caller.deviceId ?? query.get('deviceId') ?? undefined },
        deviceName: deviceName(query.get('deviceName')),
        carets: query.get('carets') === 'true',
        seq: lastSeq(request),
        edits: false,
        version: undefined,
        timestamp: undefined,
        resumeToken,
        ...fileAddresses(request, links),
      };
      if (raw.method === 'HEAD') {
        await rooms.access(visitor.caller, 'followRoom');
        return { status: 200, headers: streamHeaders };
      }
      // Clients of an event stream send nothing, so only TCP keepalive detects a lost one, before a heartbeat resets it.
      raw.socket.setKeepAlive(true, 10_000);
      return { status: 200, headers: streamHeaders, body: await live.openEvents(client, visitor) };
    },

    /**
     * Requests without an upgrade, for example from the address bar of a browser. Browsers hide from a page why a
     * WebSocket was refused, so a page of another origin learns it here.
     */
    liveChannel({ raw }): never {
      if (isForeignOrigin(raw, origins)) throw foreignOrigin();
      const message = 'This endpoint requires a WebSocket. Use /events to follow a room over plain HTTP.';
      throw new PoproomError('UPGRADE_REQUIRED', message);
    },
  }) satisfies Partial<Handlers>;

function lastSeq({ raw, query }: Request): number | undefined {
  const text = header(raw, 'last-event-id') ?? query.get('lastEventId');
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function deviceName(text: string | null): string | undefined {
  if (!text) return undefined;
  if (text.length <= maxDeviceNameLength) return text;
  throw deviceNameTooLong();
}
