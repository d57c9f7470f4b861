/**
 * Bounds how many counters strangers can start. A counter that is in use is never given up for a new one: clients that
 * come when the budget is used up, or when their network has had its part, share the counter of their network.
 */
import type { ClientId } from '../../core/ports.ts';
import { networkOf } from './network.ts';

/** One network may use up a tenth of the budget. */
const partsOfBudget = 10;
/** As many as there are in IPv4; the clients of further ones share one counter. */
const mostSharing = 65_536;

export class CounterBudget {
  readonly #windowMs: number;
  readonly #most: number;
  #windowEndsAt = 0;
  #started = 0;
  readonly #startedBy = new Map<string, number>();
  readonly #sharing = new Set<string>();

  constructor({ windowMs, countersPerWindow }: { windowMs: number; countersPerWindow: number }) {
    this.#windowMs = windowMs;
    this.#most = countersPerWindow;
  }

  /** Whether any client shares a counter: until then there is no need to look for one. */
  get isShared(): boolean {
    return this.#sharing.size > 0;
  }

  /** The key of the counter for a client that has none of its own: its own, or one that it shares. */
  keyFor(client: ClientId, now: number): string {
    this.#renew(now);
    const network = networkOf(client);
    const isWithin = this.#started < this.#most && this.#startedIn(network) < this.#most / partsOfBudget;
    return isWithin ? client : this.#sharedKey(network);
  }

  /** To be called when a counter was started under that key. */
  noteStart(key: string, client: ClientId): void {
    if (key !== client) return;
    const network = networkOf(client);
    this.#started += 1;
    this.#startedBy.set(network, this.#startedIn(network) + 1);
  }

  #startedIn(network: string): number {
    return this.#startedBy.get(network) ?? 0;
  }

  #sharedKey(network: string): string {
    if (!this.#sharing.has(network) && this.#sharing.size >= mostSharing) return 'shared:*';
    this.#sharing.add(network);
    return `shared:${network}`;
  }

  /** Also after a clock that was ahead is set back. */
  #renew(now: number): void {
    if (now < this.#windowEndsAt && this.#windowEndsAt <= now + this.#windowMs) return;
    this.#windowEndsAt = now + this.#windowMs;
    this.#started = 0;
    this.#startedBy.clear();
    this.#sharing.clear();
  }
}
