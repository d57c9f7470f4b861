/**
 * Runs a request with an idempotency key once. A repetition within a day gets the result of the first one.
 *
 * The result is sealed with a key that is derived from the idempotency key, which the store does not have.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientHash } from './client-hash.ts';
import { PoproomError } from './errors.ts';
import { idempotencyLimits } from './limits.ts';
import type { ClientId, Clock, FinishedRequest, IdempotencyStore, RequestKey } from './ports.ts';

/** A key, and what it is valid for: one client, endpoint and room. */
export interface KeyedRequest {
  key: string;
  client: ClientId;
  scope: string;
}

/** A small value that can be serialized, from which the response is built. */
type Result = object;

export interface RequestSteps<T extends Result> {
  perform(): Promise<T>;
  /** Identifies the content of the request. Called after it was performed. */
  fingerprint(): string;
  /** Checks the access of a repetition, and returns its fingerprint. */
  compare(): Promise<string>;
}

export interface Idempotency {
  run<T extends Result>(request: KeyedRequest, steps: RequestSteps<T>): Promise<{ result: T; isReplayed: boolean }>;
}

export interface IdempotencyDeps {
  store: IdempotencyStore;
  secret: string;
  hashClient: ClientHash;
  clock: Clock;
}

export function createIdempotency({ store, secret, hashClient, clock }: IdempotencyDeps): Idempotency {
  const derive = (purpose: string, { client, scope, key }: KeyedRequest) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, client, scope, key]))
      .digest();

  /** A request may contain a PIN, which could be found by trying all of them. */
  const keyed = (request: KeyedRequest, fingerprint: string) =>
    createHmac('sha256', derive('idempotency fingerprint', request)).update(fingerprint).digest('hex');

  async function keep<T extends Result>(
    request: KeyedRequest,
    id: RequestKey,
    runner: string,
    result: T,
    steps: RequestSteps<T>,
  ): Promise<void> {
    const fingerprint = keyed(request, steps.fingerprint());
    const sealed = seal(JSON.stringify(result), derive('idempotency seal', request));
    const limits = { expiresAt: clock() + idempotencyLimits.keptMs, perClient: idempotencyLimits.perClient };
    await store.finish(id, runner, { fingerprint, result: sealed }, limits);
  }

  async function performOnce<T extends Result>(
    request: KeyedRequest,
    id: RequestKey,
    runner: string,
    steps: RequestSteps<T>,
  ) {
    const renewal = setInterval(
      () => void store.renew(id, runner, clock(), leaseMs).catch(() => undefined),
      leaseMs / 3,
    );
    try {
      const result = await steps.perform();
      // The change is stored. An error would only make the client repeat it.
      await keep(request, id, runner, result, steps).catch(() => undefined);
      return result;
    } catch (error) {
      await store.abandon(id, runner).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  async function replay<T extends Result>(request: KeyedRequest, finished: FinishedRequest, steps: RequestSteps<T>) {
    if (!areEqual(keyed(request, await steps.compare()), finished.fingerprint)) throw otherRequest();
    return JSON.parse(unseal(finished.result, derive('idempotency seal', request))) as T;
  }

  return {
    async run(request, steps) {
      const id = { client: hashClient(request.client), key: derive('idempotency id', request).toString('hex') };
      const runner = randomBytes(8).toString('hex');
      const begun = await store.begin(id, runner, clock(), leaseMs);
      if (begun.state === 'running') throw stillRunning();
      if (begun.state === 'started')
        return { result: await performOnce(request, id, runner, steps), isReplayed: false };
      return { result: await replay(request, begun.request, steps), isReplayed: true };
    },
  };
}

/** After a crash, the key can be used again when the lease has ended. */
const leaseMs = 60_000;

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

function seal(text: string, key: Buffer): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv);
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

function unseal(sealed: string, key: Buffer): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
}

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

function stillRunning(): PoproomError {
  return new PoproomError(
    'REQUEST_IN_PROGRESS',
    'A request with this Idempotency-Key is still running. Try again in 1 second.',
    { retryAfter: 1, details: { field: 'Idempotency-Key' } },
  );
}
