/**
 * Bounds how many large messages are received at the same time. A connection without a slot is not read, so that the
 * rest of its message stays with the sender and takes no memory here.
 */
import type { ClientId } from '../core/ports.ts';

const maxPerClient = 2;
const maxInAll = 6;

export interface Receiver {
  client: ClientId;
  /** Called when it has waited for a slot, and has it now. */
  onSlot(): void;
}

export class ReceiveSlots {
  readonly #perClient = new Map<ClientId, number>();
  readonly #holders = new Set<Receiver>();
  /** In the order they came. */
  readonly #waiting = new Set<Receiver>();

  /** Whether the receiver has a slot now. If not, it waits for one. */
  take(receiver: Receiver): boolean {
    if (this.#holders.has(receiver)) return true;
    if (this.#isFreeFor(receiver)) {
      this.#hold(receiver);
      return true;
    }
    this.#waiting.add(receiver);
    return false;
  }

  /** For a receiver that has a slot, waits for one, or neither. */
  release(receiver: Receiver): void {
    this.#waiting.delete(receiver);
    if (!this.#holders.delete(receiver)) return;
    const held = (this.#perClient.get(receiver.client) ?? 0) - 1;
    if (held > 0) this.#perClient.set(receiver.client, held);
    else this.#perClient.delete(receiver.client);
    const next = this.#waiting.values().find((other) => this.#isFreeFor(other));
    if (!next) return;
    this.#waiting.delete(next);
    this.#hold(next);
    next.onSlot();
  }

  #isFreeFor({ client }: Receiver): boolean {
    return this.#holders.size < maxInAll && (this.#perClient.get(client) ?? 0) < maxPerClient;
  }

  #hold(receiver: Receiver): void {
    this.#holders.add(receiver);
    this.#perClient.set(receiver.client, (this.#perClient.get(receiver.client) ?? 0) + 1);
  }
}
