/** How much a session is sent: 4 MiB in one go, then 1 MiB a second. Past it, it gets the newest state once a second. */
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
