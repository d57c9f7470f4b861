/**
 * Caches rooms, so that frequent ones need no query. It is exact: one process owns the database, its writer makes every
 * change, and each change updates or drops the cached room before it is acknowledged.
 */
import type { Content, Room } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { RoomId } from './room-id.ts';

export interface CachedRoom {
  room: Room;
  pinMac: Uint8Array | null;
  /** Set after the first read. */
  content: Content | undefined;
}

/** The data that admission depends on. */
export interface RoomAccess {
  room: Pick<Room, 'code' | 'expiresAt' | 'salt'>;
  pinMac: Uint8Array | null;
}

/** Limits of each of the two generations. */
const maxRooms = 5_000;
const maxTextUnits = 8 * 1024 * 1024;
/** A longer text would displace many rooms, and reading it costs little compared with sending it. */
const longestText = 256 * 1024;
/** A prime, so that room ids are spread over all slots. */
const recentReadSlots = 4093;

interface Generation {
  rooms: Map<RoomCode, CachedRoom>;
  textUnits: number;
}

/** Used rooms are in the young generation. When it is full it becomes the old one, and the old one is dropped. */
export class RoomCache {
  #young = emptyGeneration();
  #old = emptyGeneration();
  /** The last room in each slot. */
  #recentReads = new Float64Array(recentReadSlots);

  get(code: RoomCode): CachedRoom | undefined {
    return this.#young.rooms.get(code) ?? this.#promote(code);
  }

  put(code: RoomCode, cached: CachedRoom): CachedRoom {
    this.drop(code);
    const isLong = unitsOf(cached) > longestText;
    this.#add(code, isLong ? { ...cached, content: undefined } : cached);
    return cached;
  }

  /**
   * Whether a room was read recently and its text is worth caching. Most rooms are read rarely, and caching them costs
   * more than querying them again: 25 % of the CPU time if 11,000 rooms are read in turn.
   */
  isReadAgain(id: RoomId): boolean {
    const readKey = Number(id);
    const at = readKey % recentReadSlots;
    const again = this.#recentReads[at] === readKey;
    this.#recentReads[at] = readKey;
    return again;
  }

  /** Caches the text of a cached room, unless a newer text was read before this write was reported. */
  putContent(code: RoomCode, content: Content): void {
    const cached = this.get(code);
    if (!cached || (cached.content && cached.content.version >= content.version)) return;
    this.#changeContent(cached, content.content.length > longestText ? undefined : content);
  }

  /** For a write whose text is not available: the room stays, and its text is read again. */
  dropContent(code: RoomCode): void {
    const cached = this.get(code);
    if (cached?.content) this.#changeContent(cached, undefined);
  }

  /** The room must be in the young generation, which `get` ensures. */
  #changeContent(cached: CachedRoom, content: Content | undefined): void {
    this.#young.textUnits -= unitsOf(cached);
    cached.content = content;
    this.#young.textUnits += unitsOf(cached);
    if (this.#young.textUnits > maxTextUnits) this.#ageAll();
  }

  drop(code: RoomCode): void {
    for (const generation of [this.#young, this.#old]) {
      const cached = generation.rooms.get(code);
      if (!cached) continue;
      generation.rooms.delete(code);
      generation.textUnits -= unitsOf(cached);
    }
  }

  #promote(code: RoomCode): CachedRoom | undefined {
    const cached = this.#old.rooms.get(code);
    return cached && this.put(code, cached);
  }

  #ageAll(): void {
    this.#old = this.#young;
    this.#young = emptyGeneration();
  }

  #add(code: RoomCode, cached: CachedRoom): void {
    const isFull = this.#young.rooms.size >= maxRooms || this.#young.textUnits + unitsOf(cached) > maxTextUnits;
    if (isFull) this.#ageAll();
    this.#young.rooms.set(code, cached);
    this.#young.textUnits += unitsOf(cached);
  }
}

const emptyGeneration = (): Generation => ({ rooms: new Map(), textUnits: 0 });

const unitsOf = ({ content }: CachedRoom) => content?.content.length ?? 0;
