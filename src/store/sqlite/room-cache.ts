/**
 * Rooms as they were last read or written, so that the hot ones are answered without a query. It is exact: one process
 * owns the database, every change of a room passes through its writer, and what the writer touches is renewed here or
 * dropped before the change is answered.
 */
import type { Content, Room } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';

export interface CachedRoom {
  room: Room;
  pinMac: Uint8Array | null;
  /** Once it has been asked for. */
  content: Content | undefined;
}

const mostRooms = 10_000;
const mostTextUnits = 16 * 1024 * 1024;
/** Longer texts would push out many rooms each, and reading them is not what costs when they are sent. */
const longestText = 256 * 1024;

export class RoomCache {
  /** Longest unused first. */
  readonly #rooms = new Map<RoomCode, CachedRoom>();
  #textUnits = 0;

  get(code: RoomCode): CachedRoom | undefined {
    const cached = this.#rooms.get(code);
    if (!cached) return undefined;
    this.#rooms.delete(code);
    this.#rooms.set(code, cached);
    return cached;
  }

  put(code: RoomCode, cached: CachedRoom): CachedRoom {
    this.drop(code);
    this.#rooms.set(code, cached);
    if (this.#rooms.size > mostRooms) this.#dropOldest();
    return cached;
  }

  /** Remembers the text of a room that is here. A write that is told of after a newer one was read comes too late. */
  putContent(code: RoomCode, content: Content): void {
    const cached = this.#rooms.get(code);
    if (!cached || (cached.content && cached.content.version >= content.version)) return;
    this.#textUnits -= cached.content?.content.length ?? 0;
    cached.content = content.content.length > longestText ? undefined : content;
    this.#textUnits += cached.content?.content.length ?? 0;
    while (this.#textUnits > mostTextUnits && this.#rooms.size > 0) this.#dropOldest();
  }

  drop(code: RoomCode): void {
    const cached = this.#rooms.get(code);
    if (!cached) return;
    this.#textUnits -= cached.content?.content.length ?? 0;
    this.#rooms.delete(code);
  }

  #dropOldest(): void {
    const oldest = this.#rooms.keys().next();
    if (!oldest.done) this.drop(oldest.value);
  }
}
