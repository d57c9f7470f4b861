/** The doors to the live channel. What goes on behind them is not this folder's business. */
import { PoproomError } from '../../core/errors.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { fileAddresses } from '../response/links.ts';
import type { Handler, Service } from './handler.ts';

const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies that collect what passes through them would hold events back.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};

export const roomEvents =
  ({ live, links, rooms }: Service): Handler =>
  async (request) => {
    const caller = callerOf(request);
    const visitor = {
      caller: { ...caller, deviceId: caller.deviceId ?? request.query.get('deviceId') ?? undefined },
      deviceName: deviceName(request.query.get('deviceName')),
      seq: lastSeq(request),
      edits: false,
      version: undefined,
      timestamp: undefined,
      resumeToken: request.resumeToken,
      ...fileAddresses(request, links),
    };
    if (request.raw.method === 'HEAD') {
      await rooms.info(visitor.caller);
      return { status: 200, headers: streamHeaders };
    }
    // One way as it is, only TCP can tell that the other side has vanished; before the next heartbeat, which would mask it.
    request.raw.socket.setKeepAlive(true, 10_000);
    return { status: 200, headers: streamHeaders, body: await live.openEvents(request.client, visitor) };
  };

/** Asked for without an upgrade, for instance by a browser's address bar. */
export const liveChannel = (): Handler => async () => {
  throw new PoproomError('VALIDATION_FAILED', 'This is a WebSocket; to follow a room by plain HTTP, use /events.');
};

function lastSeq({ raw, query }: Request): number | undefined {
  const text = header(raw, 'last-event-id') ?? query.get('lastEventId');
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function deviceName(text: string | null): string | undefined {
  if (!text) return undefined;
  if (text.length <= 64) return text;
  throw new PoproomError('VALIDATION_FAILED', 'The name of a device has at most 64 characters.', {
    details: { field: 'deviceName' },
  });
}
