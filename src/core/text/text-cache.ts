/** Working texts of the rooms that are being edited, the longest unused dropped first. */
import type { RoomCode } from '../room-code.ts';
import type { WorkingText } from './working-text.ts';

/** Of all texts together; about bytes. */
const maxCost = 64 * 1024 * 1024;

export class TextCache {
  readonly #texts = new Map<RoomCode, { text: WorkingText; cost: number }>();
  #cost = 0;

  get(code: RoomCode): WorkingText | undefined {
    return this.#texts.get(code)?.text;
  }

  /** Puts it in front, with what it costs by now. */
  put(code: RoomCode, text: WorkingText): void {
    this.delete(code);
    const { cost } = text;
    this.#texts.set(code, { text, cost });
    this.#cost += cost;
    if (this.#cost > maxCost) this.#makeRoom(code);
  }

  delete(code: RoomCode): void {
    this.#cost -= this.#texts.get(code)?.cost ?? 0;
    this.#texts.delete(code);
  }

  get cost(): number {
    return this.#cost;
  }

  #makeRoom(newest: RoomCode): void {
    for (const [code, { text }] of this.#texts) {
      if (this.#cost <= maxCost) return;
      // Edits on their way to the store build on it.
      if (code !== newest && text.pending === 0) this.delete(code);
    }
  }
}
