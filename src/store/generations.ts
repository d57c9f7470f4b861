/** A cache by room. */
import type { RoomCode } from '../core/room-code.ts';

interface Limits<Value> {
  /** Of each of the two generations. */
  maxRooms: number;
  maxUnits: number;
  unitsOf: (value: Value) => number;
}

/** Used values are in the young generation. When it is full it becomes the old one, and the old one is dropped. */
export class Generations<Value> {
  #young = new Map<RoomCode, Value>();
  #old = new Map<RoomCode, Value>();
  /** Of the young generation. */
  #units = 0;
  readonly #limits: Limits<Value>;

  constructor(limits: Limits<Value>) {
    this.#limits = limits;
  }

  get(code: RoomCode): Value | undefined {
    const known = this.#young.get(code);
    if (known) return known;
    const older = this.#old.get(code);
    if (older) this.put(code, older);
    return older;
  }

  put(code: RoomCode, value: Value): void {
    this.drop(code);
    const { maxRooms, maxUnits, unitsOf } = this.#limits;
    const units = unitsOf(value);
    if (this.#young.size >= maxRooms || this.#units + units > maxUnits) this.age();
    this.#young.set(code, value);
    this.#units += units;
  }

  drop(code: RoomCode): void {
    const known = this.#young.get(code);
    if (known) this.#units -= this.#limits.unitsOf(known);
    this.#young.delete(code);
    this.#old.delete(code);
  }

  /** Returns whether any value is left. */
  age(): boolean {
    this.#old = this.#young;
    this.#young = new Map();
    this.#units = 0;
    return this.#old.size > 0;
  }
}
