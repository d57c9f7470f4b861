/** The live channel: one session logic, two transports. */
import type { ClientLog } from '../core/clients.ts';
import type { Turns } from '../core/defence/work.ts';
import type { LiveGateway, LiveMeter } from '../core/live-gateway.ts';
import { createEventStreams } from './events.ts';
import { createHub, type HubDeps } from './hub.ts';
import type { WebSockets } from './websocket.ts';
import { createParseMessage, type Validate } from './wire.ts';

interface LiveDeps extends HubDeps {
  validate: Validate;
  maxMessageBytes: number;
  turns: Turns;
  clientLog: ClientLog;
  meter: LiveMeter;
}

interface LiveChannel extends LiveGateway {
  /** Loads the WebSocket library before the first connection needs it. */
  prepare(): Promise<unknown>;
  size(): number;
  /** Bytes of messages that clients have not read yet. */
  unreadBytes(): number;
  stop(): void;
}

export function createLive({ validate, maxMessageBytes, turns, clientLog, meter, ...hubDeps }: LiveDeps): LiveChannel {
  const hub = createHub({ ...hubDeps, maxMessageBytes, onRefusal: meter.refused });
  const events = createEventStreams(hub, clientLog, meter);
  let loading: Promise<WebSockets> | undefined;

  const sockets = () => {
    loading ??= import('./websocket.ts').then(({ createWebSockets }) =>
      createWebSockets({ hub, parse: createParseMessage(validate), maxMessageBytes, turns, clientLog, meter }),
    );
    // After a failure, the next connection tries again.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };

  return {
    openEvents: events.open,
    async waitForText(client, wait) {
      hub.reserve(client);
      meter.opened('poll');
      const startedAt = performance.now();
      try {
        await hub.waitForText(wait);
      } finally {
        hub.release(client);
        meter.closed('poll', 'left', (performance.now() - startedAt) / 1000);
      }
    },
    openSocket: async (upgrade) => (await sockets()).accept(upgrade),
    prepare: sockets,
    size: hub.size,
    unreadBytes: hub.unreadBytes,
    stop() {
      hub.stop();
      void loading?.then((opened) => opened.stop());
    },
  };
}
