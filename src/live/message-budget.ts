/** Limits the messages of a channel: 20 per second, with bursts of 40. */
const perSecond = 20;
const burst = 40;

export class MessageBudget {
  #left = burst;
  #at: number;

  constructor(now: number) {
    this.#at = now;
  }

  spend(now: number): boolean {
    this.#left = Math.min(burst, this.#left + ((now - this.#at) * perSecond) / 1000);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
