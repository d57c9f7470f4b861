/** The live channel: one session logic, two transports. */
import type { ClientLog } from '../core/client-log.ts';
import type { LiveGateway } from '../core/live-gateway.ts';
import type { Turns } from '../core/turns.ts';
import { createEventStreams } from './events.ts';
import { createHub, type HubDeps } from './hub.ts';
import { createParseMessage, type Validate } from './parse-message.ts';
import type { WebSockets } from './websocket.ts';

export interface LiveDeps extends HubDeps {
  validate: Validate;
  maxMessageBytes: number;
  turns: Turns;
  clientLog: ClientLog;
}

export interface LiveChannel extends LiveGateway {
  /** Loads the WebSocket library before the first connection needs it. */
  prepare(): Promise<unknown>;
  size(): number;
  stop(): void;
}

export function createLive({ validate, maxMessageBytes, turns, clientLog, ...parts }: LiveDeps): LiveChannel {
  const hub = createHub({ ...parts, maxMessageBytes });
  const events = createEventStreams(hub, clientLog);
  let loading: Promise<WebSockets> | undefined;

  const sockets = () => {
    loading ??= import('./websocket.ts').then(({ createWebSockets }) =>
      createWebSockets({ hub, parse: createParseMessage(validate), maxMessageBytes, turns, clientLog }),
    );
    // After a failure, the next connection tries again.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };

  return {
    openEvents: events.open,
    openSocket: async (upgrade) => (await sockets()).accept(upgrade),
    prepare: sockets,
    size: hub.size,
    stop() {
      hub.stop();
      void loading?.then((opened) => opened.stop());
    },
  };
}
