/** The rate limit of the client, from response headers. */

/** The limit of requests in the current window, from the last response. */
export interface RateLimit {
  limit: number;
  remaining: number;
  /** When the window ends, by the clock of this device. */
  resetAt: Date;
}

/** Undefined if the server has no limit. Uses the relative time, because the two clocks may differ. */
export function rateLimitIn(header: (name: string) => string | null): RateLimit | undefined {
  const [limit] = /^\d{1,15}$/.exec(header('X-RateLimit-Limit') ?? '') ?? [];
  const [, remaining, seconds] = /;r=(\d{1,15});t=(\d{1,9})(?!\d)/.exec(header('RateLimit') ?? '') ?? [];
  if (limit === undefined || remaining === undefined) return undefined;
  return {
    limit: Number(limit),
    remaining: Number(remaining),
    resetAt: new Date(Date.now() + Number(seconds) * 1000),
  };
}
