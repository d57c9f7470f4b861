/** Reads rooms from the cache or the database, and ends rooms that are found expired. */
import type { DatabaseSync } from 'node:sqlite';
import type { Content, GuardRules, MissingReason } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { type CachedRoom, RoomCache } from './room-cache.ts';
import { type RoomId, roomIdOf } from './room-id.ts';
import { cachedRoomOf, ownerColumns, type RecordRow, recordColumns, roomColumns } from './rows.ts';
import type { ReadSnapshot } from './snapshot.ts';
import { prepareOnce } from './statements.ts';
import { contentOf, type RoomToRead, roomToReadOf, type TextRow, textQuery } from './text-query.ts';
import type { Writer } from './writer.ts';

interface RoomReaderParts {
  db: DatabaseSync;
  snapshot: ReadSnapshot;
  writer: Writer;
  rules: Pick<GuardRules, 'rememberExpiredMs'>;
}

export type RoomReader = ReturnType<typeof createRoomReader>;

type CachedWithText = CachedRoom & { content: Content };

export function createRoomReader({ db, snapshot, writer, rules }: RoomReaderParts) {
  const sql = prepareOnce(db);
  const cache = new RoomCache();

  const roomById = sql(`SELECT ${roomColumns} FROM rooms WHERE id = ?`);
  const liveById = sql(`SELECT ${recordColumns}, ${ownerColumns} FROM rooms WHERE id = ? AND expires_at > ?`);
  const textById = sql(textQuery);
  textById.setReturnArrays(true);
  // An expired room that could not be ended yet is still in the table.
  const expiredById = sql(`
    SELECT 1 FROM expired_rooms WHERE id = ?1 AND expired_at > ?2
    UNION ALL SELECT 1 FROM rooms WHERE id = ?1 AND expires_at > ?2
  `);

  function find(code: RoomCode): CachedRoom | undefined {
    const cached = cache.get(code);
    if (cached) return cached;
    snapshot.beginSharedRead();
    const row = roomById.get(roomIdOf(code));
    return row && cache.put(code, cachedRoomOf(row));
  }

  /** The room with its text, or with the row that contains it. */
  function findToRead(code: RoomCode): CachedWithText | RoomToRead | undefined {
    const cached = cache.get(code);
    if (cached && hasText(cached)) return cached;
    snapshot.beginSharedRead();
    const row = textById.get(roomIdOf(code)) as unknown as TextRow | undefined;
    return row && roomToReadOf(code, row);
  }

  /**
   * Caching a room queries it a second time. A write in between updates or drops the cached room before it is
   * acknowledged.
   */
  function readContent({ room: { code }, row }: RoomToRead): Content {
    const content = contentOf(row);
    if (cache.isReadAgain(roomIdOf(code)) && find(code)) cache.putContent(code, content);
    return content;
  }

  /** Why a room is missing. */
  const missingReason = (code: RoomCode, now: number): MissingReason =>
    expiredById.get(roomIdOf(code), now - rules.rememberExpiredMs) ? 'expired' : 'gone';

  const orReason = <T>(code: RoomCode, now: number, outcome: T | 'gone'): T | MissingReason =>
    outcome === 'gone' ? missingReason(code, now) : outcome;

  /** Reads from the database in one transaction, so that seq, text and files are consistent. */
  async function readLive<T>(
    code: RoomCode,
    now: number,
    read: (id: RoomId, record: RecordRow) => T,
  ): Promise<T | MissingReason> {
    const id = roomIdOf(code);
    const found = snapshot.within(() => {
      const record = liveById.get(id, now) as RecordRow | undefined;
      return record && { value: read(id, record) };
    });
    if (found) return found.value;
    await endForGood(code, now);
    return missingReason(code, now);
  }

  /** Waits for a change and drops the cached room, whatever the outcome. */
  async function changing<T>(code: RoomCode, change: Promise<T>): Promise<T> {
    try {
      return await change;
    } finally {
      cache.drop(code);
    }
  }

  /** Ends an expired room, so that it stays ended if the clock is set back. If this fails, the next sweep does it. */
  async function endForGood(code: RoomCode, now: number): Promise<void> {
    await changing(code, writer.run('expireRoom', code, now)).catch(() => undefined);
  }

  return {
    sql,
    cache,
    find,
    findToRead,
    readContent,
    readLive,
    missingReason,
    orReason,
    changing,
    endForGood,
  };
}

const hasText = (cached: CachedRoom): cached is CachedWithText => cached.content !== undefined;
