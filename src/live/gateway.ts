/** The live channel: one session logic, and its transports. Server-sent events are for `curl -N` and `EventSource`. */
import { PassThrough } from 'node:stream';
import type { ClientLog } from '../core/clients.ts';
import { loadOnce } from '../core/concurrency.ts';
import type { Turns } from '../core/defence/work.ts';
import type { LiveGateway, LiveMeter } from '../core/live-gateway.ts';
import { createHub, type HubDeps } from './hub.ts';
import type { WebSockets } from './websocket.ts';
import { createParseMessage, type Outgoing, type Validate, type Wire } from './wire.ts';

const transport = 'events';
const lingerMs = 2000;
const soonestRetryMs = 1000;

interface LiveDeps extends HubDeps {
  validate: Validate;
  turns: Turns;
  clientLog: ClientLog;
  meter: LiveMeter;
}

export function createLive({ validate, maxMessageBytes, turns, clientLog, meter, ...hubDeps }: LiveDeps) {
  const hub = createHub({ ...hubDeps, maxMessageBytes, onRefusal: meter.refused });
  let loading: Promise<WebSockets> | undefined;

  const sockets = loadOnce(() => {
    loading = import('./websocket.ts').then(({ createWebSockets }) =>
      createWebSockets({ hub, parse: createParseMessage(validate), maxMessageBytes, turns, clientLog, meter }),
    );
    return loading;
  });

  const gateway: LiveGateway = {
    async openEvents(client, request) {
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
          meter.closed(transport, session.leaveReason, secondsSince(joinedAt));
          clientLog.debug(client, { transport }, 'live channel closed');
        });
        if (stream.destroyed) session.leave();
        return stream;
      } catch (error) {
        stream.destroy();
        throw error;
      }
    },
    async waitForText(client, wait) {
      hub.reserve(client);
      meter.opened('poll');
      const startedAt = performance.now();
      try {
        await hub.waitForText(wait);
      } finally {
        hub.release(client);
        meter.closed('poll', 'left', secondsSince(startedAt));
      }
    },
    openSocket: async (upgrade) => (await sockets()).accept(upgrade),
  };
  return {
    ...gateway,
    /** Loads the WebSocket library before the first connection needs it. */
    prepare: sockets,
    size: hub.size,
    unreadBytes: hub.unreadBytes,
    stop(): void {
      hub.stop();
      loading?.then((opened) => opened.stop()).catch(() => undefined);
    },
  };
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1000;

function wireOf(stream: PassThrough): Wire {
  const send = (messages: readonly Outgoing[]) => {
    for (const part of messages.flatMap(eventOf)) stream.write(part);
  };
  return {
    answersPings: false,
    send,
    backlog: () => stream.readableLength + stream.writableLength,
    ping: (message) => message && send([message]),
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
