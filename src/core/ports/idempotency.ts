/** Requests with an idempotency key, which run once however often they are sent. */

/** The hashes of a client and of its key; neither can be derived from them. */
export interface RequestKey {
  client: string;
  key: string;
}

/** The record of a request that succeeded. Its result is sealed. */
export interface FinishedRequest {
  fingerprint: string;
  result: string;
}

export type BeginOutcome =
  | { state: 'started' }
  | { state: 'running' }
  | { state: 'finished'; request: FinishedRequest };

export interface IdempotencyStore {
  /** Reserves a key for a request until its lease ends, unless another request has reserved it or has finished. */
  begin(key: RequestKey, runner: string, now: number, leaseMs: number): Promise<BeginOutcome>;
  /** Extends the lease of a running request. */
  renew(key: RequestKey, runner: string, now: number, leaseMs: number): Promise<void>;
  /** Keeps the result until `expiresAt`, and ends the lease. Of each client, at most `perClient` results are kept. */
  finish(
    key: RequestKey,
    runner: string,
    request: FinishedRequest,
    limits: { expiresAt: number; perClient: number },
  ): Promise<void>;
  /** Ends the lease without a result, so that the request can be sent again. */
  abandon(key: RequestKey, runner: string): Promise<void>;
}
