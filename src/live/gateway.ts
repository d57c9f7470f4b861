/** The live channel: one session logic, two transports. */
import type { ClientLog } from '../core/clients.ts';
import type { Turns } from '../core/defence/work.ts';
import type { LiveGateway, LiveMeter } from '../core/live-gateway.ts';
import { createOpenEvents } from './events.ts';
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

export function createLive({ validate, maxMessageBytes, turns, clientLog, meter, ...hubDeps }: LiveDeps) {
  const hub = createHub({ ...hubDeps, maxMessageBytes, onRefusal: meter.refused });
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

  const gateway: LiveGateway = {
    openEvents: createOpenEvents(hub, clientLog, meter),
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
  };
  return {
    ...gateway,
    /** Loads the WebSocket library before the first connection needs it. */
    prepare: sockets,
    size: hub.size,
    unreadBytes: hub.unreadBytes,
    stop(): void {
      hub.stop();
      void loading?.then((opened) => opened.stop());
    },
  };
}
