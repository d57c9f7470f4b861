/** Limits the memory for incomplete bodies and unread responses. */
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

  get maximum(): number {
    return this.#limits.total;
  }

  /** Whether the bytes fit. If so, the caller must release them later. */
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

/** Enough for several clients with a body of the maximum size. */
export function memoryLimits(largestBody: number): MemoryLimits {
  const perClient = Math.max(16 * MiB, 2 * largestBody);
  return { perClient, total: 3 * perClient };
}
