/**
 * Limits how many large messages are received at the same time. The server does not read from a connection without a
 * slot, so that the rest of its message stays with the sender and takes no memory here.
 */
import type { ClientId } from '../ports/basics.ts';

const maxPerClient = 2;
const maxTotal = 6;

export interface Receiver {
  client: ClientId;
  /** Called when a waiting receiver gets its slot. */
  onSlot(): void;
}

export class ReceiveSlots {
  readonly #perClient = new Map<ClientId, number>();
  readonly #holders = new Set<Receiver>();
  /** In order of arrival. */
  readonly #waiting = new Set<Receiver>();

  /** Whether the receiver has a slot. If not, it is queued. */
  take(receiver: Receiver): boolean {
    if (this.#holders.has(receiver)) return true;
    if (this.#isFreeFor(receiver)) {
      this.#hold(receiver);
      return true;
    }
    this.#waiting.add(receiver);
    return false;
  }

  /** Works for a receiver that has a slot, waits for one, or neither. */
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
    return this.#holders.size < maxTotal && (this.#perClient.get(client) ?? 0) < maxPerClient;
  }

  #hold(receiver: Receiver): void {
    this.#holders.add(receiver);
    this.#perClient.set(receiver.client, (this.#perClient.get(receiver.client) ?? 0) + 1);
  }
}
