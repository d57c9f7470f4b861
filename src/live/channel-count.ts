/** Counts the open channels of each client. */
import { PoproomError } from '../core/errors.ts';
import type { ClientId } from '../core/ports.ts';

export class ChannelCount {
  readonly #max: number;
  readonly #open = new Map<ClientId, number>();

  constructor(max: number) {
    this.#max = max;
  }

  reserve(client: ClientId): void {
    const open = this.#open.get(client) ?? 0;
    if (open >= this.#max) {
      throw new PoproomError(
        'RATE_LIMITED',
        `You have reached the limit of ${this.#max} live channels. Close one and try again.`,
        {
          retryAfter: 60,
          details: { reason: 'channels', retryAfter: 60, maximum: this.#max },
        },
      );
    }
    this.#open.set(client, open + 1);
  }

  /** Call this once for each reservation. */
  release(client: ClientId): void {
    const open = (this.#open.get(client) ?? 1) - 1;
    if (open > 0) this.#open.set(client, open);
    else this.#open.delete(client);
  }
}
