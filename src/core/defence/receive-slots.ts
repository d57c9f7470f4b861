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
  readonly #holders = new Set<Receiver>();
  /** In order of arrival. */
  readonly #waiting = new Set<Receiver>();

  /** Whether the receiver has a slot. If not, it is queued. */
  take(receiver: Receiver): boolean {
    if (this.#holders.has(receiver)) return true;
    const isFree = this.#isFreeFor(receiver);
    (isFree ? this.#holders : this.#waiting).add(receiver);
    return isFree;
  }

  /** Works for a receiver that has a slot, waits for one, or neither. */
  release(receiver: Receiver): void {
    this.#waiting.delete(receiver);
    if (!this.#holders.delete(receiver)) return;
    const next = this.#waiting.values().find((other) => this.#isFreeFor(other));
    if (!next) return;
    this.#waiting.delete(next);
    this.#holders.add(next);
    next.onSlot();
  }

  #isFreeFor({ client }: Receiver): boolean {
    const ofClient = this.#holders.values().filter((holder) => holder.client === client);
    return this.#holders.size < maxTotal && ofClient.toArray().length < maxPerClient;
  }
}
