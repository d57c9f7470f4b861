/** Memory that clients make the server hold: bodies that have not arrived whole, and responses that nobody reads. */
import { noteReleased } from './garbage.ts';
import type { ClientId } from './ports.ts';

export interface MemoryLimits {
  total: number;
  perClient: number;
}

export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #held = new Map<ClientId, number>();
  #total = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /** Whether so many more bytes fit. If so, they have to be released later. */
  take(client: ClientId, bytes: number): boolean {
    const held = (this.#held.get(client) ?? 0) + bytes;
    if (held > this.#limits.perClient || this.#total + bytes > this.#limits.total) return false;
    this.#held.set(client, held);
    this.#total += bytes;
    return true;
  }

  release(client: ClientId, bytes: number): void {
    const held = (this.#held.get(client) ?? 0) - bytes;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
    this.#total -= bytes;
    noteReleased(bytes);
  }
}

const MiB = 1024 * 1024;

/** Enough for several clients with the largest body that there is. */
export function memoryLimits(largestBody: number): MemoryLimits {
  const perClient = Math.max(16 * MiB, 2 * largestBody);
  return { perClient, total: 3 * perClient };
}
