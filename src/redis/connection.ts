/**
 * The connection to Redis: one server, Sentinel or Cluster. Every command succeeds or fails within a time limit, and
 * only a limited number may wait: a store that hangs must not make the whole service hang.
 */
import { ErrorReply } from '@redis/client';
import { PoproomError } from '../core/errors.ts';
import { type Call, openClient } from './client.ts';
import { connectWithin } from './connect-within.ts';
import { createDeadlines, noResponse } from './deadlines.ts';
import type { RedisTarget } from './redis-url.ts';
import type { Script } from './script.ts';
import { assertAcceptsWrites, assertUsable, isUnknownFlag } from './server-info.ts';
import { openSubscriber, type Subscriber, type SubscriptionHandlers } from './subscriber.ts';

export interface Redis {
  run(script: Script, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
  /** A plain command. The key determines the node of a cluster. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** To all servers that store data: to one, to the primary, or to all primaries of a cluster. */
  sendToAll(command: readonly string[]): Promise<unknown[]>;
  /** Rejects unless all of these servers respond and accept writes. */
  ping(): Promise<void>;
  /** Commands without a response yet. */
  queueLength(): number;
  /** From now on, all commands are rejected with this error. */
  block(error: PoproomError): void;
  /** Called when Redis responds again after a command without a response. */
  onRecovery(listener: () => void): void;
  /** Opens a separate connection for subscriptions. Rejects if that fails. */
  listen(handlers: SubscriptionHandlers): Promise<Subscriber>;
  close(): Promise<void>;
}

/** Rejects if nothing responds at the start. Later interruptions are handled by reconnecting. */
export async function connectRedis(target: RedisTarget): Promise<Redis> {
  const opened = await openClient(target);
  const { client, sendCommand } = opened;
  try {
    await connectWithin(target, () => client.connect(), opened.lastError);
    await connectWithin(target, () => assertUsable(opened, target));
  } catch (error) {
    client.destroy();
    throw error;
  }
  const recovered = new Set<() => void>();
  const deadlines = createDeadlines({
    probe: () => opened.sendToAll(['PING']),
    isAnswer,
    recovered: () => {
      for (const listener of recovered) listener();
    },
  });

  let knowsFlags = true;
  let blocked: PoproomError | undefined;
  const within: typeof deadlines.within = (work) => (blocked ? Promise.reject(blocked) : deadlines.within(work));

  /** Sends the whole script if Redis does not know it. Commands that timed out are not repeated. */
  function evaluate(script: Script, call: Call): Promise<unknown> {
    const { text, digest, withoutFlags } = knowsFlags ? script : (script.withoutFlags ?? script);
    return within(() => client.evalSha(digest, call))
      .catch((error: unknown) => {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return within(() => client.eval(text, call));
      })
      .catch((error: unknown) => {
        if (!withoutFlags || !isUnknownFlag(error)) throw unavailable(error);
        knowsFlags = false;
        return evaluate(withoutFlags, call);
      });
  }

  const send: Redis['send'] = (key, command) => within(() => sendCommand(key, command)).catch(refuse);

  return {
    run: (script, keys, args = []) => evaluate(script, { keys: [...keys], arguments: args.map(asText) }),
    send,
    async ping() {
      await within(() => assertAcceptsWrites(opened.sendToAll)).catch(refuse);
    },
    sendToAll: (command) => within(() => opened.sendToAll(command)).catch(refuse),
    queueLength: deadlines.running,
    block(error) {
      blocked = error;
    },
    onRecovery: (listener) => void recovered.add(listener),
    listen: (handlers) => openSubscriber(opened, target, handlers),
    async close() {
      await deadlines.finish();
      client.destroy();
    },
  };
}

const asText = (value: string | number): string => (typeof value === 'string' ? value : String(value));

function refuse(error: unknown): never {
  throw unavailable(error);
}

export const isAnswer = (error: unknown): boolean => error instanceof ErrorReply;

/**
 * Out of memory means a full store, and a rejected command is our bug. Everything else means an unavailable store,
 * including one that is loading or does not accept writes during a failover.
 */
export function unavailable(cause: unknown): PoproomError {
  if (cause instanceof PoproomError) return cause;
  const message = isAnswer(cause) ? (cause as Error).message : '';
  // Before version 7, an error within a script has a prefix.
  if (/^OOM |-OOM /.test(message)) return new PoproomError('STORAGE_FULL', 'The store has no memory left.', { cause });
  if (/^(ERR (?!.*(?:loading|cluster))|WRONGTYPE |NOPERM |CROSSSLOT )/i.test(message)) {
    return new PoproomError('INTERNAL', 'The store rejected a command.', { cause });
  }
  return noResponse(cause);
}
