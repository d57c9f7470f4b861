/** Texts that are being edited. The least recently used are dropped first, and all when idle. */

import type { CoreDeps } from '../deps.ts';
import { roomMissing } from '../errors.ts';
import type { RoomCode } from '../room-code.ts';
import { type TextPoint, WorkingText } from './working-text.ts';

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
  #cost = 0;
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
      this.#cost += cost - cached.cost;
      cached.cost = cost;
      cached.wasUsed = true;
    } else {
      this.delete(code);
      this.#keep(code, { text, cost, wasUsed: true });
    }
    if (this.#cost > maxCost) this.#evict(code);
    this.#watchIdle();
  }

  delete(code: RoomCode): void {
    this.#cost -= this.#texts.get(code)?.cost ?? 0;
    this.#texts.delete(code);
  }

  get cost(): number {
    return this.#cost;
  }

  /** Drops the oldest first. A text that was used gets a second chance. */
  #evict(newest: RoomCode): void {
    let chances = 2 * this.#texts.size;
    for (const [code, cached] of this.#texts) {
      if (this.#cost <= maxCost || chances === 0) return;
      chances -= 1;
      const canEvict = code !== newest && !cached.wasUsed && cached.text.pending === 0;
      this.delete(code);
      if (!canEvict) this.#keep(code, { ...cached, wasUsed: false });
    }
  }

  #keep(code: RoomCode, cached: CachedText): void {
    this.#texts.set(code, cached);
    this.#cost += cached.cost;
  }

  /** Edits that the store has not confirmed depend on the text. */
  #deleteUnlessPending(code: RoomCode): void {
    if (this.#texts.get(code)?.text.pending === 0) this.delete(code);
  }

  #watchIdle(): void {
    if (this.#timer || this.#texts.size === 0) return;
    this.#timer = setTimeout(() => this.#dropIdle(), this.#idleMs);
    this.#timer.unref();
  }

  #dropIdle(): void {
    for (const [code, cached] of [...this.#texts]) {
      if (!cached.wasUsed) this.#deleteUnlessPending(code);
      cached.wasUsed = false;
    }
    this.#timer = undefined;
    this.#watchIdle();
  }
}

/** The texts in memory: loads them from the store, and drops those that may differ from it. */
export function createLoadedTexts({ rooms, texts, clock }: Pick<CoreDeps, 'rooms' | 'texts' | 'clock'>) {
  const cache = new TextCache();
  const loading = new Map<RoomCode, Promise<WorkingText>>();

  function load(code: RoomCode): WorkingText | Promise<WorkingText> {
    return cache.get(code) ?? reload(code);
  }

  /** Reads each room once at a time. */
  function reload(code: RoomCode): Promise<WorkingText> {
    const pending = loading.get(code);
    if (pending) return pending;
    const reading = read(code).finally(() => loading.delete(code));
    loading.set(code, reading);
    return reading;
  }

  async function read(code: RoomCode): Promise<WorkingText> {
    const stored = await texts.readText(code, clock());
    if (typeof stored === 'string') throw roomMissing(stored);
    const text = new WorkingText(stored);
    cache.put(code, text);
    return text;
  }

  function drop(code: RoomCode, text: WorkingText): void {
    text.generation += 1;
    if (cache.get(code) === text) cache.delete(code);
  }

  /** Whether the store has this text and nothing newer. If not, it will be read again. */
  async function isCurrent(code: RoomCode, text: WorkingText): Promise<boolean> {
    const { version, writtenAt } = await settle(text);
    const state = await rooms.readState(code, clock(), { version, writtenAt });
    if (typeof state === 'string') throw roomMissing(state);
    if (state.text.version === version && text.version === version) return true;
    if (text.pending === 0) drop(code, text);
    return false;
  }

  return { cache, load, reload, drop, isCurrent };
}

/** Waits until the store has confirmed all appends. */
export async function settle(text: WorkingText): Promise<TextPoint> {
  await text.settle();
  return text.point;
}
