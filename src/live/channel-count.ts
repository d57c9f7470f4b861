/** How many channels each client has open. */
import { PoproomError } from '../core/errors.ts';
import type { ClientId } from '../core/ports.ts';

export class ChannelCount {
  readonly #most: number;
  readonly #open = new Map<ClientId, number>();

  constructor(most: number) {
    this.#most = most;
  }

  reserve(client: ClientId): void {
    const open = this.#open.get(client) ?? 0;
    if (open >= this.#most) {
      throw new PoproomError('RATE_LIMITED', `You have ${this.#most} live channels open, which is as many as may be.`, {
        retryAfter: 60,
        details: { reason: 'channels', retryAfter: 60, maximum: this.#most },
      });
    }
    this.#open.set(client, open + 1);
  }

  /** To be called once for each place. */
  release(client: ClientId): void {
    const open = (this.#open.get(client) ?? 1) - 1;
    if (open > 0) this.#open.set(client, open);
    else this.#open.delete(client);
  }
}
