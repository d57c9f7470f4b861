/** Limits the requests per client that do not count, because they have a token. A token can be used repeatedly. */
import type { ClientId } from '../../core/ports.ts';

/** Enough for all devices behind one address to reconnect three times in a row. One more is added every second. */
const burst = 60;
const refillMs = 1_000;

export class TokenBudget {
  /** Least recently used first. */
  readonly #clients = new Map<ClientId, { left: number; at: number }>();

  /** Whether one more request of this client is free. */
  take(client: ClientId, now: number): boolean {
    this.#dropRefilled(now);
    const { left, at } = this.#clients.get(client) ?? { left: burst, at: now };
    const refilled = Math.min(burst, left + (now - at) / refillMs);
    const isTaken = refilled >= 1;
    this.#clients.delete(client);
    this.#clients.set(client, { left: isTaken ? refilled - 1 : refilled, at: now });
    return isTaken;
  }

  #dropRefilled(now: number): void {
    for (const [client, { at }] of this.#clients) {
      if (now - at < burst * refillMs) return;
      this.#clients.delete(client);
    }
  }
}
