/**
 * Counters in memory with write-behind, so that reading a room does not write to the disk.
 * A clean stop keeps them exact; a crash loses at most the last second.
 */
import type { CounterRow } from './operations.ts';

const maxChecks = 16;

export class CounterTable<State> {
  readonly kind: string;
  /** Oldest first, the order in which they are dropped. */
  readonly #states = new Map<string, State>();
  readonly #dirty = new Set<string>();
  readonly #expiresAt: (state: State) => number;

  constructor(kind: string, expiresAt: (state: State) => number) {
    this.kind = kind;
    this.#expiresAt = expiresAt;
  }

  get size(): number {
    return this.#states.size;
  }

  get(key: string, now: number): State | undefined {
    const state = this.#states.get(key);
    return state !== undefined && this.#expiresAt(state) > now ? state : undefined;
  }

  /** Starts or restarts a counter. */
  start(key: string, state: State): State {
    this.#states.delete(key);
    this.#states.set(key, state);
    this.#dirty.add(key);
    return state;
  }

  /** Call this after changing a state in place. */
  changed(key: string): void {
    this.#dirty.add(key);
  }

  forget(key: string): void {
    if (this.#states.delete(key)) this.#dirty.add(key);
  }

  /**
   * Drops the oldest counter that may be dropped, and returns whether there was one. It checks only a few, and moves
   * those that must stay to the end, so that the next call checks others.
   */
  dropOldest(mayDrop: (state: State) => boolean): boolean {
    let checks = 0;
    for (const [key, state] of this.#states) {
      if (mayDrop(state)) {
        this.forget(key);
        return true;
      }
      if (checks === maxChecks) break;
      checks += 1;
      this.#states.delete(key);
      this.#states.set(key, state);
    }
    return false;
  }

  load(key: string, state: State): void {
    this.#states.set(key, state);
  }

  /** The changes since the last call, for the disk. */
  takeDirty(): CounterRow[] {
    const rows: CounterRow[] = [];
    for (const key of this.#dirty) {
      const state = this.#states.get(key);
      if (state === undefined) rows.push({ kind: this.kind, key, state: null, expiresAt: 0 });
      else rows.push({ kind: this.kind, key, state: JSON.stringify(state), expiresAt: this.#expiresAt(state) });
    }
    this.#dirty.clear();
    return rows;
  }

  /** From memory only. The sweep removes them from disk by the same rule. */
  dropExpired(now: number): void {
    for (const [key, state] of this.#states) {
      if (this.#expiresAt(state) <= now) this.#states.delete(key);
    }
  }
}
