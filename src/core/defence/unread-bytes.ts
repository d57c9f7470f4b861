/**
 * Counts large messages that wait in memory for slow readers. A message that many sessions share is one buffer, so it
 * counts once.
 */
import type { ClientId } from '../ports/basics.ts';
import type { BudgetLimits } from './transfer-budget.ts';

/** A message to a session. */
interface Message {
  /** Its size, including the long text. */
  bytes: number;
  /** A text that several messages share. */
  longText: { json: object } | undefined;
}

export class UnreadBytes {
  readonly #limits: BudgetLimits;
  readonly #all = new SharedBytes();
  readonly #perClient = new Map<ClientId, SharedBytes>();

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#all.total;
  }

  isFull(client: ClientId): boolean {
    const ofClient = this.#perClient.get(client)?.total ?? 0;
    return this.#all.total >= this.#limits.total || ofClient >= this.#limits.perClient;
  }

  add(client: ClientId, message: Message): void {
    const ofClient = this.#perClient.get(client) ?? new SharedBytes();
    this.#perClient.set(client, ofClient);
    ofClient.add(message);
    this.#all.add(message);
  }

  remove(client: ClientId, message: Message): void {
    this.#all.remove(message);
    const ofClient = this.#perClient.get(client);
    ofClient?.remove(message);
    if (ofClient?.total === 0) this.#perClient.delete(client);
  }
}

/** Identical messages, and messages with the same long text, count once. */
class SharedBytes {
  readonly #shared = new Map<object, { bytes: number; holders: number }>();
  total = 0;

  add(message: Message): void {
    const known = this.#shared.get(sharedPart(message)) ?? { bytes: message.bytes, holders: 0 };
    if (known.holders === 0) this.total += known.bytes;
    known.holders += 1;
    this.#shared.set(sharedPart(message), known);
  }

  remove(message: Message): void {
    const known = this.#shared.get(sharedPart(message));
    if (!known || --known.holders > 0) return;
    this.#shared.delete(sharedPart(message));
    this.total -= known.bytes;
  }
}

const sharedPart = (message: Message): object => message.longText?.json ?? message;
