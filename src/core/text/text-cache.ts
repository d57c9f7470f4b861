/** Texts that are being edited. The least recently used are dropped first, and all when idle. */

import { singleFlights } from '../concurrency.ts';
import type { CoreDeps } from '../deps.ts';
import { orMissing } from '../errors.ts';
import type { RoomCode } from '../room-code.ts';
import { WorkingText } from './working-text.ts';

/** The total for all texts, in approximate bytes. */
const maxCost = 64 * 1024 * 1024;
/** A text is dropped after one to two of these without use. Reading it again takes about a millisecond. */
const idleMs = 10_000;

interface CachedText {
  text: WorkingText;
  cost: number;
  /** Since the last check for idle texts. */
  wasUsed: boolean;
}

export class TextCache {
  readonly #texts = new Map<RoomCode, CachedText>();
  readonly #idleMs: number;
  cost = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(idle: number = idleMs) {
    this.#idleMs = idle;
  }

  get(code: RoomCode): WorkingText | undefined {
    return this.#texts.get(code)?.text;
  }

  /** Marks the text as used and updates its cost. */
  put(code: RoomCode, text: WorkingText): void {
    const { cost } = text;
    const cached = this.#texts.get(code);
    if (cached?.text === text) {
      this.cost += cost - cached.cost;
      cached.cost = cost;
      cached.wasUsed = true;
    } else {
      this.delete(code);
      this.#keep(code, { text, cost, wasUsed: true });
    }
    if (this.cost > maxCost) this.#evict(code);
    this.#watchIdle();
  }

  delete(code: RoomCode): void {
    this.cost -= this.#texts.get(code)?.cost ?? 0;
    this.#texts.delete(code);
  }

  /** Drops the oldest first. A text that was used gets a second chance. */
  #evict(newest: RoomCode): void {
    let chances = 2 * this.#texts.size;
    for (const [code, cached] of this.#texts) {
      if (this.cost <= maxCost || chances === 0) return;
      chances -= 1;
      const canEvict = code !== newest && !cached.wasUsed && cached.text.pending === 0;
      this.delete(code);
      if (!canEvict) this.#keep(code, { ...cached, wasUsed: false });
    }
  }

  #keep(code: RoomCode, cached: CachedText): void {
    this.#texts.set(code, cached);
    this.cost += cached.cost;
  }

  #watchIdle(): void {
    if (this.#timer || this.#texts.size === 0) return;
    this.#timer = setTimeout(() => this.#dropIdle(), this.#idleMs).unref();
  }

  #dropIdle(): void {
    for (const [code, cached] of [...this.#texts]) {
      // Edits that the store has not confirmed depend on the text.
      if (!cached.wasUsed && cached.text.pending === 0) this.delete(code);
      cached.wasUsed = false;
    }
    this.#timer = undefined;
    this.#watchIdle();
  }
}

/** The texts in memory: loads them from the store, and drops those that may differ from it. */
export function createLoadedTexts({ rooms, texts, clock }: Pick<CoreDeps, 'rooms' | 'texts' | 'clock'>) {
  const cache = new TextCache();
  const onceFor = singleFlights<RoomCode, WorkingText>();

  const load = (code: RoomCode) => cache.get(code) ?? reload(code);

  const reload = (code: RoomCode) => onceFor(code, () => read(code));

  async function read(code: RoomCode): Promise<WorkingText> {
    const text = new WorkingText(orMissing(await texts.readText(code, clock())));
    cache.put(code, text);
    return text;
  }

  function drop(code: RoomCode, text: WorkingText): void {
    text.generation += 1;
    if (cache.get(code) === text) cache.delete(code);
  }

  /** Whether the store has this text and nothing newer. If not, it will be read again. */
  async function isCurrent(code: RoomCode, text: WorkingText): Promise<boolean> {
    const { version, writtenAt } = await text.settle();
    const state = orMissing(await rooms.readState(code, clock(), { version, writtenAt }));
    if (state.text.version === version && text.version === version) return true;
    if (text.pending === 0) drop(code, text);
    return false;
  }

  return { cache, load, reload, drop, isCurrent };
}
