/** Limits the data sent to a session: 4 MiB at once, then 1 MiB per second. Beyond it, it gets the latest state. */
const burst = 4 * 1024 * 1024;
const perMs = (1024 * 1024) / 1000;

export class ByteBudget {
  #left = burst;
  #at = 0;

  spend(bytes: number, now: number): void {
    this.#refill(now);
    this.#left -= bytes;
  }

  isSpent(now: number): boolean {
    if (this.#left > 0) return false;
    this.#refill(now);
    return this.#left <= 0;
  }

  #refill(now: number): void {
    this.#left = Math.min(burst, this.#left + (now - this.#at) * perMs);
    this.#at = now;
  }
}
