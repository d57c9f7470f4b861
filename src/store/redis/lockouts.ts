/** Clients that this node knows to be locked out. They are rejected without a request to Redis. */
export interface Lockouts {
  until(client: string, now: number): number | undefined;
  note(client: string, until: number): void;
}

const maxLockouts = 10_000;

export function createLockouts(): Lockouts {
  const lockouts = new Map<string, number>();
  return {
    until(client, now) {
      const until = lockouts.get(client);
      if (until === undefined || until > now) return until;
      lockouts.delete(client);
      return undefined;
    },
    note(client, until) {
      if (lockouts.size >= maxLockouts) lockouts.delete(lockouts.keys().next().value as string);
      lockouts.set(client, until);
    },
  };
}
