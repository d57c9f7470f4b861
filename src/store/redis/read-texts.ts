/**
 * Texts that this node has read. They are never used without asking Redis: a read sends the tag of the known text, and
 * Redis returns the text only if it has another one. This saves most of the bytes and of the work of a repeated read.
 */
import type { SealedLog } from '../../core/ports/rooms.ts';
import type { Content } from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';

export interface ReadText {
  tag: string;
  content: Content;
  /** In an encrypted room. */
  sealed?: SealedLog;
}

/** UTF-16 code units of each of the two generations, and of a text that is kept. */
const maxUnits = 4 * 1024 * 1024;
const longestText = 256 * 1024;
/** A text is dropped after one to two of these without use. */
const idleMs = 10_000;

/** Used texts are in the young generation. When it is full or old it becomes the old one, and the old one is dropped. */
export class ReadTexts {
  #young = new Map<RoomCode, ReadText>();
  #old = new Map<RoomCode, ReadText>();
  #units = 0;
  #timer: NodeJS.Timeout | undefined;

  get(code: RoomCode): ReadText | undefined {
    const known = this.#young.get(code);
    if (known) return known;
    const older = this.#old.get(code);
    if (older) this.put(code, older);
    return older;
  }

  put(code: RoomCode, text: ReadText): void {
    this.drop(code);
    const units = unitsOf(text);
    if (units > longestText) return;
    if (this.#units + units > maxUnits) this.#age();
    this.#young.set(code, text);
    this.#units += units;
    this.#timer ??= setTimeout(() => this.#onIdle(), idleMs).unref();
  }

  /** For a room that no longer exists. */
  drop(code: RoomCode): void {
    const known = this.#young.get(code);
    if (known) this.#units -= unitsOf(known);
    this.#young.delete(code);
    this.#old.delete(code);
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#units = 0;
  }

  #onIdle(): void {
    this.#timer = undefined;
    this.#age();
    if (this.#old.size > 0) this.#timer = setTimeout(() => this.#onIdle(), idleMs).unref();
  }
}

/** With some for the entry itself, so that many empty texts are limited too. */
const unitsOf = ({ content, sealed }: ReadText): number =>
  content.content.length +
  64 +
  (sealed?.entries.reduce((sum, { sealed: text = '' }) => sum + text.length + 64, 0) ?? 0);
