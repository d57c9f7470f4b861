/** Counters of clients: how clients are identified for them, and how many they can start. */

import type { ClientId } from '../core/ports/basics.ts';
import type { AccessAttempt } from '../core/ports/rooms.ts';

/** One network may use a tenth of the budget. */
const partsOfBudget = 10;
/** As many as IPv4 has. Clients of further networks share one counter. */
const maxSharing = 65_536;

/**
 * Limits how many counters clients can start. A counter in use is never dropped for a new one: when the budget or the
 * share of a network is used up, further clients share one counter with their network.
 */
export class CounterBudget {
  readonly #windowMs: number;
  readonly #max: number;
  #windowEndsAt = 0;
  #started = 0;
  readonly #startedBy = new Map<string, number>();
  readonly #sharing = new Set<string>();

  constructor({ windowMs, countersPerWindow }: { windowMs: number; countersPerWindow: number }) {
    this.#windowMs = windowMs;
    this.#max = countersPerWindow;
  }

  /** Whether any client shares a counter. Otherwise there is no need to look for one. */
  get isShared(): boolean {
    return this.#sharing.size > 0;
  }

  /** The key for the new counter of a client: its own or a shared one. */
  keyFor(client: ClientId, now: number): string {
    this.#renew(now);
    // No network can have used up its share yet.
    if (this.#started < this.#max / partsOfBudget) return client;
    const network = networkOf(client);
    const isWithin = this.#started < this.#max && this.#startedIn(network) < this.#max / partsOfBudget;
    return isWithin ? client : this.#sharedKey(network);
  }

  /** Call this when a counter was started under that key. */
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
    if (!this.#sharing.has(network) && this.#sharing.size >= maxSharing) return 'shared:*';
    this.#sharing.add(network);
    return `shared:${network}`;
  }

  /** Also handles a clock that was set back. */
  #renew(now: number): void {
    if (now < this.#windowEndsAt && this.#windowEndsAt <= now + this.#windowMs) return;
    this.#windowEndsAt = now + this.#windowMs;
    this.#started = 0;
    this.#startedBy.clear();
    this.#sharing.clear();
  }
}

/** The network of a client: 16 bits of IPv4, 32 of IPv6. An API key is its own network. Further counters have a `#`. */
export function networkOf(client: ClientId): string {
  const [id = ''] = client.split('#', 1);
  if (id.startsWith('key:')) return id;
  const separator = id.includes(':') ? ':' : '.';
  return id.split(separator, 2).join(separator);
}

export type Guesser = Pick<AccessAttempt, 'client' | 'isCrossSite' | 'now'>;

/** The id for PIN attempts. Cross-site requests count separately, so that they cannot lock out the visitor. */
export const guesserOf = ({ client, isCrossSite }: Omit<Guesser, 'now'>): ClientId =>
  isCrossSite ? `${client}#cross-site` : client;
