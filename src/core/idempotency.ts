/**
 * Runs a request with an idempotency key once. A repetition within a day gets the result of the first one.
 *
 * The store keeps the result in the same step as the change, so a crash leaves both or neither. If several runs of a
 * request reach the store, one makes the change, and the store returns its result to the others.
 *
 * The result is sealed with a key that is derived from the idempotency key, which the store does not have.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { ClientHash } from './clients.ts';
import { counted, hasCode, PoproomError } from './errors.ts';
import { idempotencyLimits } from './limits.ts';
import type { ClientId, Clock, FinishedRequest, IdempotencyStore, RequestKey, RequestRecord } from './ports/basics.ts';
import type { RoomCode } from './room-code.ts';
import { secondsUntil } from './timestamp.ts';
import { areEqual, seal, unseal } from './tokens.ts';

/** A key, and what it is valid for: one client, endpoint and room. */
export interface KeyedRequest {
  key: string;
  client: ClientId;
  scope: string;
  /** Undefined for a new room, and if there cannot be such a room. Of a link, it is looked up when it is needed. */
  room: RoomCode | undefined | (() => Promise<RoomCode | undefined>);
}

/** A small value that can be serialized, from which the response is built. */
type Result = object;

type IdempotencyDeps = { store: IdempotencyStore; secret: string; hashClient: ClientHash; clock: Clock };

export type Idempotency = ReturnType<typeof createIdempotency>;

export const createIdempotency = (deps: IdempotencyDeps) => ({
  /** `contentOf` identifies the content of the request. It is called at most once, when the content is known. */
  run: <T extends Result>(request: KeyedRequest, contentOf: () => string) => createRun<T>(deps, request, contentOf),
});

/** One of the runs of a request. */
export type KeyedRun<T extends Result> = ReturnType<typeof createRun<T>>;

function createRun<T extends Result>(
  { store, secret, hashClient, clock }: IdempotencyDeps,
  { client, scope, key, room }: KeyedRequest,
  contentOf: () => string,
) {
  const derive = (purpose: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, client, scope, key]))
      .digest();

  const id: RequestKey = { client: hashClient(client), key: derive('idempotency record').toString('base64url') };
  let fingerprint: string | undefined;
  let lease: { room: RoomCode; runner: string; renewal: NodeJS.Timeout } | undefined;

  const findRoom = async () => (typeof room === 'function' ? room() : room);

  /** Keyed: a request may contain a PIN, which could be found by trying all of them. */
  function compared(): string {
    fingerprint ??= createHmac('sha256', derive('idempotency fingerprint')).update(contentOf()).digest('base64url');
    return fingerprint;
  }

  const run = {
    /** Whether the result is that of an earlier run. */
    isReplayed: false,

    /** For the store, together with the change. */
    record(result: T): RequestRecord {
      const { keptMs, ...bounds } = idempotencyLimits;
      const sealed = seal(JSON.stringify(result), derive('idempotency seal')).toString('base64');
      return { ...id, fingerprint: compared(), result: sealed, expiresAt: clock() + keptMs, ...bounds };
    },

    /** The result of an earlier run. Rejects if that was a request with other content. */
    async find(): Promise<T | undefined> {
      const code = await findRoom();
      const earlier = code && (await store.find(code, id, clock()));
      return earlier && run.replay(earlier);
    },

    /** The same for a request that the store has returned. */
    replay(earlier: FinishedRequest): T {
      if (!areEqual(compared(), earlier.fingerprint)) {
        const message = 'This Idempotency-Key was used for a different request. Use a new key for each request.';
        throw new PoproomError('IDEMPOTENCY_KEY_REUSED', message, { details });
      }
      run.isReplayed = true;
      return run.unseal(earlier);
    },

    /** The result of a run that may not have been completed. */
    unseal: ({ result }: FinishedRequest): T =>
      JSON.parse(unseal(Buffer.from(result, 'base64'), derive('idempotency seal'))),

    /** Reserves the key until `end`, or returns an earlier request. Rejects while another run has reserved it. */
    async begin(): Promise<FinishedRequest | undefined> {
      const code = await findRoom();
      if (!code) return undefined;
      const runner = randomBytes(8).toString('hex');
      const begun = await store.begin(code, id, runner, clock(), leaseMs);
      if (begun.state === 'finished') return begun.request;
      if (begun.state === 'running') throw stillRunning(begun.leaseMs);
      const renew = () => void store.renew(code, id, runner, clock(), leaseMs).catch(() => undefined);
      lease = { room: code, runner, renewal: setInterval(renew, leaseMs / 3) };
      return undefined;
    },

    async end(): Promise<void> {
      if (!lease) return;
      clearInterval(lease.renewal);
      // If this fails, it ends soon anyway.
      await store.end(lease.room, id, lease.runner).catch(() => undefined);
    },
  };
  return run;
}

/** Makes a change, unless an earlier run of the request has made it. The caller must have access to the room. */
export async function changeOnce<T extends Result>(run: KeyedRun<T>, change: () => Promise<T>): Promise<T> {
  const earlier = await run.find();
  if (earlier) return earlier;
  try {
    return await change();
  } catch (error) {
    if (hasCode(error, 'UNAVAILABLE')) throw error;
    // A concurrent run may be the reason, for example by changing the version that If-Match names.
    const concurrent = await run.find();
    if (concurrent) return concurrent;
    throw error;
  }
}

/** After a crash, the key can be used again when the lease has ended. */
const leaseMs = 10_000;

const details = { field: 'Idempotency-Key' };

function stillRunning(leaseMs: number): PoproomError {
  const retryAfter = secondsUntil(leaseMs, 0);
  const wait = counted(retryAfter, 'second');
  const message = `An upload with this Idempotency-Key is still running. Try again in ${wait}.`;
  return new PoproomError('REQUEST_IN_PROGRESS', message, { retryAfter, details });
}
