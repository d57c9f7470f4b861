/**
 * Rooms as they were last read or written, so that the hot ones are answered without a query. It is exact: one process
 * owns the database, every change of a room passes through its writer, and what the writer touches is renewed here or
 * dropped before the change is answered.
 */
import type { Content, Room } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { RoomId } from './room-id.ts';

export interface CachedRoom {
  room: Room;
  pinMac: Uint8Array | null;
  /** Once it has been asked for. */
  content: Content | undefined;
}

/** What admission to a room depends on. */
export interface RoomAccess {
  room: Pick<Room, 'code' | 'expiresAt'>;
  pinMac: Uint8Array | null;
}

/** Of each of two generations. */
const mostRooms = 5_000;
const mostTextUnits = 8 * 1024 * 1024;
/** Longer texts would push out many rooms each, and reading them is not what costs when they are sent. */
const longestText = 256 * 1024;
/** A prime, so that the numbers of codes spread over all of them. */
const recentReadSlots = 4093;

interface Generation {
  rooms: Map<RoomCode, CachedRoom>;
  textUnits: number;
}

/** What is used stays with the young; when these are full they become the old, and what was old is forgotten. */
export class RoomCache {
  #young = emptyGeneration();
  #old = emptyGeneration();
  /** The last room that fell on each. */
  #recentReads = new Float64Array(recentReadSlots);

  get(code: RoomCode): CachedRoom | undefined {
    return this.#young.rooms.get(code) ?? this.#rejuvenated(code);
  }

  put(code: RoomCode, cached: CachedRoom): CachedRoom {
    this.drop(code);
    const isLong = unitsOf(cached) > longestText;
    this.#add(code, isLong ? { ...cached, content: undefined } : cached);
    return cached;
  }

  /**
   * Whether a room is worth keeping for its text: one that is read again. Of many rooms most are read once in a long
   * while, and keeping those costs more than to look them up again.
   */
  isReadAgain(id: RoomId): boolean {
    const readKey = Number(id);
    const at = readKey % recentReadSlots;
    const again = this.#recentReads[at] === readKey;
    this.#recentReads[at] = readKey;
    return again;
  }

  /** Remembers the text of a room that is here. A write that is told of after a newer one was read comes too late. */
  putContent(code: RoomCode, content: Content): void {
    const cached = this.get(code);
    if (!cached || (cached.content && cached.content.version >= content.version)) return;
    this.#changeContent(cached, content.content.length > longestText ? undefined : content);
  }

  /** For a write whose text is not at hand: the room stays, and its text is read again. */
  dropContent(code: RoomCode): void {
    const cached = this.get(code);
    if (cached?.content) this.#changeContent(cached, undefined);
  }

  /** Of a room that was just got, and is with the young. */
  #changeContent(cached: CachedRoom, content: Content | undefined): void {
    this.#young.textUnits -= unitsOf(cached);
    cached.content = content;
    this.#young.textUnits += unitsOf(cached);
    if (this.#young.textUnits > mostTextUnits) this.#ageAll();
  }

  drop(code: RoomCode): void {
    for (const generation of [this.#young, this.#old]) {
      const cached = generation.rooms.get(code);
      if (!cached) continue;
      generation.rooms.delete(code);
      generation.textUnits -= unitsOf(cached);
    }
  }

  #rejuvenated(code: RoomCode): CachedRoom | undefined {
    const cached = this.#old.rooms.get(code);
    return cached && this.put(code, cached);
  }

  #ageAll(): void {
    this.#old = this.#young;
    this.#young = emptyGeneration();
  }

  #add(code: RoomCode, cached: CachedRoom): void {
    const isFull = this.#young.rooms.size >= mostRooms || this.#young.textUnits + unitsOf(cached) > mostTextUnits;
    if (isFull) this.#ageAll();
    this.#young.rooms.set(code, cached);
    this.#young.textUnits += unitsOf(cached);
  }
}

const emptyGeneration = (): Generation => ({ rooms: new Map(), textUnits: 0 });

const unitsOf = ({ content }: CachedRoom) => content?.content.length ?? 0;
