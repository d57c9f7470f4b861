/** How much of its requests a client has left, as every response tells. */

export interface RateLimit {
  limit: number;
  remaining: number;
  /** When the window ends, by this device's clock. */
  resetAt: Date;
}

/** Undefined where the server has no limit. The time is read as a span, since the two clocks may differ. */
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
