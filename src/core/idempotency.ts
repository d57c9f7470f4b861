/**
 * Runs a request with an idempotency key once. A repetition within a day gets the result of the first one.
 *
 * The store keeps the result in the same step as the change, so a crash leaves both or neither. If several runs of a
 * request reach the store, one makes the change, and the store returns its result to the others.
 *
 * The result is sealed with a key that is derived from the idempotency key, which the store does not have.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientHash } from './clients.ts';
import { hasCode, PoproomError } from './errors.ts';
import { idempotencyLimits } from './limits.ts';
import type { ClientId, Clock, FinishedRequest, IdempotencyStore, RequestKey, RequestRecord } from './ports/basics.ts';
import type { RoomCode } from './room-code.ts';
import { seal, unseal } from './tokens.ts';

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

/** One of the runs of a request. */
export interface KeyedRun<T extends Result> {
  /** Whether the result is that of an earlier run. */
  readonly isReplayed: boolean;
  /** For the store, together with the change. */
  record(result: T): RequestRecord;
  /** The result of an earlier run. Rejects if that was a request with other content. */
  find(): Promise<T | undefined>;
  /** The same for a request that the store has returned. */
  replay(earlier: FinishedRequest): T;
  /** The result of a run that may not have been completed. */
  unseal(earlier: FinishedRequest): T;
  /** Reserves the key until `end`, or returns an earlier request. Rejects while another run has reserved it. */
  begin(): Promise<FinishedRequest | undefined>;
  end(): Promise<void>;
}

export interface Idempotency {
  /** `fingerprint` identifies the content of the request. It is called at most once, when the content is known. */
  run<T extends Result>(request: KeyedRequest, fingerprint: () => string): KeyedRun<T>;
}

interface IdempotencyDeps {
  store: IdempotencyStore;
  secret: string;
  hashClient: ClientHash;
  clock: Clock;
}

export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  return {
    run: <T extends Result>(request: KeyedRequest, fingerprint: () => string) => new Run<T>(deps, request, fingerprint),
  };
}

class Run<T extends Result> implements KeyedRun<T> {
  isReplayed = false;
  readonly #deps: IdempotencyDeps;
  readonly #request: KeyedRequest;
  readonly #id: RequestKey;
  readonly #contentOf: () => string;
  #fingerprint: string | undefined;
  #lease: Lease | undefined;

  constructor(deps: IdempotencyDeps, request: KeyedRequest, contentOf: () => string) {
    this.#deps = deps;
    this.#request = request;
    this.#contentOf = contentOf;
    const key = this.#derive('idempotency record').toString('base64url');
    this.#id = { client: deps.hashClient(request.client), key };
  }

  record(result: T): RequestRecord {
    const { keptMs, ...bounds } = idempotencyLimits;
    const sealed = seal(JSON.stringify(result), this.#derive('idempotency seal')).toString('base64');
    const expiresAt = this.#deps.clock() + keptMs;
    return { ...this.#id, fingerprint: this.#compared(), result: sealed, expiresAt, ...bounds };
  }

  async find(): Promise<T | undefined> {
    const { store, clock } = this.#deps;
    const room = await this.#findRoom();
    const earlier = room && (await store.find(room, this.#id, clock()));
    return earlier && this.replay(earlier);
  }

  replay(earlier: FinishedRequest): T {
    if (!areEqual(this.#compared(), earlier.fingerprint)) throw otherRequest();
    this.isReplayed = true;
    return this.unseal(earlier);
  }

  unseal({ result }: FinishedRequest): T {
    return JSON.parse(unseal(Buffer.from(result, 'base64'), this.#derive('idempotency seal'))) as T;
  }

  async begin(): Promise<FinishedRequest | undefined> {
    const { store, clock } = this.#deps;
    const room = await this.#findRoom();
    if (!room) return undefined;
    const runner = randomBytes(8).toString('hex');
    const begun = await store.begin(room, this.#id, runner, clock(), leaseMs);
    if (begun.state === 'finished') return begun.request;
    if (begun.state === 'running') throw stillRunning(begun.leaseMs);
    const renew = () => void store.renew(room, this.#id, runner, clock(), leaseMs).catch(() => undefined);
    this.#lease = { room, runner, renewal: setInterval(renew, leaseMs / 3) };
    return undefined;
  }

  async end(): Promise<void> {
    if (!this.#lease) return;
    const { room, runner, renewal } = this.#lease;
    clearInterval(renewal);
    // If this fails, it ends soon anyway.
    await this.#deps.store.end(room, this.#id, runner).catch(() => undefined);
  }

  async #findRoom(): Promise<RoomCode | undefined> {
    const { room } = this.#request;
    return typeof room === 'function' ? room() : room;
  }

  /** Keyed: a request may contain a PIN, which could be found by trying all of them. */
  #compared(): string {
    this.#fingerprint ??= createHmac('sha256', this.#derive('idempotency fingerprint'))
      .update(this.#contentOf())
      .digest('base64url');
    return this.#fingerprint;
  }

  #derive(purpose: string): Buffer {
    const { client, scope, key } = this.#request;
    return createHmac('sha256', this.#deps.secret)
      .update(JSON.stringify([purpose, client, scope, key]))
      .digest();
  }
}

interface Lease {
  room: RoomCode;
  runner: string;
  renewal: NodeJS.Timeout;
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

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function otherRequest(): PoproomError {
  return new PoproomError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used for a different request. Use a new key for each request.',
    { details: { field: 'Idempotency-Key' } },
  );
}

function stillRunning(leaseMs: number): PoproomError {
  const retryAfter = Math.max(1, Math.ceil(leaseMs / 1000));
  const wait = retryAfter === 1 ? '1 second' : `${retryAfter} seconds`;
  const message = `An upload with this Idempotency-Key is still running. Try again in ${wait}.`;
  return new PoproomError('REQUEST_IN_PROGRESS', message, { retryAfter, details: { field: 'Idempotency-Key' } });
}
