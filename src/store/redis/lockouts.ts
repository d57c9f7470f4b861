/** Clients that this node knows to be shut out: they are refused without asking Redis, and touch no counter of a room. */
export interface Lockouts {
  until(client: string, now: number): number | undefined;
  note(client: string, until: number): void;
}

const mostRemembered = 10_000;

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
      if (lockouts.size >= mostRemembered) lockouts.delete(lockouts.keys().next().value as string);
      lockouts.set(client, until);
    },
  };
}
