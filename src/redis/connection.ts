/**
 * The way to Redis: one server, Sentinel or Cluster, by the client library's own modes. Every command is answered or
 * refused within its time, and no more of them wait than there is room for: a store that hangs must not make the
 * whole service hang.
 */
import { ErrorReply } from '@redis/client';
import { PoproomError } from '../core/errors.ts';
import { type Call, openClient } from './client.ts';
import { connectWithin } from './connect-within.ts';
import { createDeadlines } from './deadlines.ts';
import type { RedisTarget } from './redis-url.ts';
import type { Script } from './script.ts';
import { type Hearing, openSubscriber, type Subscriber } from './subscriber.ts';

export interface Redis {
  run(script: Script, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
  /** A plain command; the first key says which node of a cluster it goes to. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  ping(): Promise<void>;
  /** Told when it answers again after a command had no answer. */
  onRecovery(listener: () => void): void;
  /** A connection of its own on which what is published is heard. Rejects when it cannot be had. */
  listen(hearing: Hearing): Promise<Subscriber>;
  close(): Promise<void>;
}

/** Rejects when nothing answers at the start; later interruptions are waited out. */
export async function connectRedis(target: RedisTarget): Promise<Redis> {
  const opened = await openClient(target);
  const { client, sendCommand } = opened;
  await connectWithin(() => client.connect(), opened.trouble).catch((error) => {
    client.destroy();
    throw error;
  });
  const recovered = new Set<() => void>();
  const deadlines = createDeadlines({
    probe: opened.ping,
    isAnswer,
    recovered: () => {
      for (const listener of recovered) listener();
    },
  });

  /** The first time, and after a restart of Redis, it does not know the script yet. What was given up is not sent anew. */
  function evaluate({ text, digest }: Script, call: Call): Promise<unknown> {
    return deadlines
      .within(() => client.evalSha(digest, call))
      .catch((error: unknown) => {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return deadlines.within(() => client.eval(text, call));
      })
      .catch(refuse);
  }

  const send: Redis['send'] = (key, command) => deadlines.within(() => sendCommand(key, command)).catch(refuse);

  return {
    run: (script, keys, args = []) => evaluate(script, { keys: [...keys], arguments: args.map(asText) }),
    send,
    async ping() {
      await deadlines.within(opened.ping).catch(refuse);
    },
    onRecovery: (listener) => void recovered.add(listener),
    listen: (hearing) => openSubscriber(opened, target, hearing),
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
 * An answer of Redis that it has no memory left is a full store, one that it does not understand is a mistake of ours.
 * Everything else is a store out of reach: also one that is loading, or takes no writes in the middle of a failover.
 */
export function unavailable(cause: unknown): PoproomError {
  if (cause instanceof PoproomError) return cause;
  const said = isAnswer(cause) ? (cause as Error).message : '';
  if (said.startsWith('OOM ')) return new PoproomError('STORAGE_FULL', 'The store has no memory left.', { cause });
  if (/^(ERR (?!.*(?:loading|cluster))|WRONGTYPE |NOPERM |CROSSSLOT )/i.test(said)) {
    return new PoproomError('INTERNAL', 'The store did not understand a request.', { cause });
  }
  return new PoproomError('UNAVAILABLE', 'The store does not answer; try again in a moment.', { retryAfter: 2, cause });
}
