/** The server-sent events transport: server to client only, for `curl -N` and `EventSource`. */
import { PassThrough, type Readable } from 'node:stream';
import type { ClientLog } from '../core/clients.ts';
import type { JoinRequest, LiveMeter } from '../core/live-gateway.ts';
import type { ClientId } from '../core/ports/basics.ts';
import type { Hub } from './hub.ts';
import type { Outgoing, Wire } from './wire.ts';

const lingerMs = 2000;
const soonestRetryMs = 1000;
const transport = 'events';

/** Returns a function that opens the event stream of a room. Destroying the stream leaves the room. */
export function createOpenEvents(hub: Hub, clientLog: ClientLog, meter: LiveMeter) {
  return async (client: ClientId, request: JoinRequest): Promise<Readable> => {
    hub.reserve(client);
    const stream = new PassThrough();
    stream.once('close', () => hub.release(client));
    try {
      const session = await hub.join(wireOf(stream), request);
      const joinedAt = performance.now();
      meter.opened(transport);
      clientLog.debug(client, { transport }, 'live channel joined');
      stream.once('close', () => {
        session.leave();
        meter.closed(transport, session.leaveReason, (performance.now() - joinedAt) / 1000);
        clientLog.debug(client, { transport }, 'live channel closed');
      });
      if (stream.destroyed) session.leave();
      return stream;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  };
}

function wireOf(stream: PassThrough): Wire {
  const send = (message: Outgoing) => {
    for (const part of eventOf(message)) stream.write(part);
  };
  return {
    answersPings: false,
    send,
    backlog: () => stream.readableLength + stream.writableLength,
    ping: (message) => message && send(message),
    close: (_code, reason) => {
      stream.end(`: ${reason}\n\n`);
      // A client that does not read would never reach the end.
      const timer = setTimeout(() => stream.destroy(), lingerMs);
      stream.once('close', () => clearTimeout(timer));
    },
  };
}

/** JSON contains no line breaks, so a message is one data line. */
function eventOf({ type, seq, text, longText, retryWithin, ...message }: Outgoing): (string | Uint8Array)[] {
  const { retry = retryWithin === undefined ? undefined : soonestRetryMs + Math.round(Math.random() * retryWithin) } =
    message;
  const wait = retry === undefined ? '' : `retry: ${retry}\n`;
  const head = `${seq === undefined ? '' : `id: ${seq}\n`}${wait}event: ${type}\ndata: `;
  if (!longText) return [`${head}${text}\n\n`];
  return [head + text.slice(0, longText.at), longText.json, `${text.slice(longText.at)}\n\n`];
}
