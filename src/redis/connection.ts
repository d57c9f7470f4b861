/**
 * The connection to Redis: one server, Sentinel or Cluster. Every command succeeds or fails within a time limit, and
 * only a limited number may wait: a store that hangs must not make the whole service hang.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, ErrorReply } from '@redis/client';
import { PoproomError } from '../core/errors.ts';
import { type Call, type OpenedClient, openClient, optionsFor } from './client.ts';
import { createDeadlines, noResponse } from './deadlines.ts';
import type { RedisTarget } from './redis-url.ts';
import type { Script } from './script.ts';
import { assertAcceptsWrites, assertUsable, explain, isUnknownFlag, UnusableRedis } from './server-info.ts';

export type Redis = Awaited<ReturnType<typeof connectRedis>>;

/** Rejects if nothing responds at the start. Later interruptions are handled by reconnecting. */
export async function connectRedis(target: RedisTarget) {
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

  return {
    /** Whether a script can use only keys with the same hash tag. */
    isCluster: target.mode === 'cluster',
    run: (script: Script, keys: readonly string[], args: readonly (string | number)[] = []): Promise<unknown> =>
      evaluate(script, { keys: [...keys], arguments: args.map(asText) }),
    /** A plain command. The key determines the node of a cluster. */
    send: (key: string, command: readonly string[]) => within(() => sendCommand(key, command)).catch(refuse),
    /** To all servers that store data: to one, to the primary, or to all primaries of a cluster. */
    sendToAll: (command: readonly string[]) => within(() => opened.sendToAll(command)).catch(refuse),
    /** Rejects unless all of these servers respond and accept writes. */
    ping: () => within(() => assertAcceptsWrites(opened.sendToAll)).catch(refuse),
    /** Commands without a response yet. */
    queueLength: deadlines.running,
    /** From now on, all commands are rejected with this error. */
    block(error: PoproomError): void {
      blocked = error;
    },
    /** Called when Redis responds again after a command without a response. */
    onRecovery: (listener: () => void) => void recovered.add(listener),
    /** Opens a separate connection for subscriptions. Rejects if that fails. */
    listen: (handlers: SubscriptionHandlers) => openSubscriber(opened, target, handlers),
    async close(): Promise<void> {
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

const connectWithinMs = 5_000;
const retryAfterMs = 200;

/**
 * Connects at the start. Retries until it succeeds or the time is up, for example while the server restarts. `lastError` is the actual reason
 * for the operator, such as a wrong password or certificate.
 */
async function connectWithin(
  target: RedisTarget,
  connect: () => Promise<unknown>,
  lastError: () => unknown = () => undefined,
): Promise<void> {
  const deadline = performance.now() + connectWithinMs;
  /** Of an attempt that did not run out of time. */
  let reason: unknown;
  for (;;) {
    try {
      return await inTime(deadline - performance.now(), connect());
    } catch (cause) {
      if (cause !== timeout) reason = cause;
      if (performance.now() + retryAfterMs >= deadline)
        throw unreachable(explain(lastError() ?? reason ?? cause, target));
    }
    await pause(retryAfterMs);
  }
}

function unreachable(cause: unknown): PoproomError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const problem = cause instanceof UnusableRedis ? 'Cannot use' : 'Cannot connect to';
  return new PoproomError('UNAVAILABLE', `${problem} the Redis in POPROOM_STORE: ${reason}`, { cause });
}

const timeout = new Error('no connection');

async function inTime(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  // After a stall, no time may be left, and Node warns about a negative delay.
  const timer = setTimeout(reject, Math.max(1, ms), timeout);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface SubscriptionHandlers {
  onMessage: (message: string, channel: string) => void;
  /** Earlier messages may have been missed. */
  onReconnect: () => void;
}

type AddressSource = Pick<OpenedClient, 'subscriberAddress' | 'onMove'>;

/**
 * The connection for messages of other nodes. Resolves after the first connection. After a reconnect it subscribes to
 * all channels again before it reports `onReconnect`. The library's own subscriptions do not report a reconnect in a
 * cluster, and with Sentinel they lose channels or leak connections if the primary is tried before it is replaced.
 */
async function openSubscriber(
  source: AddressSource,
  target: RedisTarget,
  { onMessage, onReconnect }: SubscriptionHandlers,
) {
  const channels = new Set<string>();
  const { promise: listening, resolve: listens } = Promise.withResolvers<void>();
  let current: Connection | undefined;
  let leave: () => void = () => undefined;
  let closed = false;

  /** Settles when this connection is lost. Rejects if it could not be established. */
  async function listen(tries: number): Promise<void> {
    const connection = createConnection(source, target, tries);
    leave = connection.leave;
    try {
      await connection.client.connect();
      if (channels.size > 0) await connection.client.subscribe([...channels], onMessage);
      current = connection;
      listens();
      onReconnect();
      await connection.lost;
    } finally {
      current = undefined;
      connection.leave();
    }
  }

  async function keepListening(): Promise<void> {
    for (let tries = 0; !closed; tries++) {
      const wasConnected = await listen(tries).then(
        () => true,
        () => false,
      );
      if (wasConnected) tries = 0;
      if (!closed) await pause(Math.min(50 * 2 ** tries, 1_000));
    }
  }

  function connected(): Connection['client'] {
    if (!current) throw new Error('not connected');
    return current.client;
  }

  function close(): void {
    closed = true;
    leave();
  }

  source.onMove(() => leave());
  void keepListening();
  await connectWithin(target, () => listening).catch((error) => {
    close();
    throw error;
  });

  return {
    async subscribe(channel: string): Promise<void> {
      // Before the response, because an unsubscribe may happen in between.
      channels.add(channel);
      try {
        await connected().subscribe(channel, onMessage);
      } catch (error) {
        channels.delete(channel);
        throw error;
      }
    },
    async unsubscribe(channel: string): Promise<void> {
      channels.delete(channel);
      await current?.client.unsubscribe(channel);
    },
    ping: async () => connected().sendCommand(['PING']),
    close,
  };
}

type Connection = ReturnType<typeof createConnection>;

/** Closed at the first error, because we choose the next server ourselves. */
function createConnection(source: AddressSource, target: RedisTarget, tries: number) {
  const address = source.subscriberAddress(tries);
  // The library would connect to the default port of this machine.
  if (!address) throw new Error('no server is known');
  const client = createClient(optionsFor(target, address));
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const leave = () => {
    resolve();
    client.destroy();
  };
  client.on('error', leave);
  return { client, lost, leave };
}
