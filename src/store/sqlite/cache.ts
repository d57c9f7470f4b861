/**
 * Caches rooms, so that frequent ones need no query. It is exact: one process owns the database, its writer makes every
 * change, and each change updates or drops the cached room before it is acknowledged.
 */
import type { CreatedBy, MissingReason, Owner, Room } from '../../core/ports/basics.ts';
import type { GuardRules, SealedLog } from '../../core/ports/rooms.ts';
import type { Content, TextEntry } from '../../core/ports/texts.ts';
import { codeSymbols, type RoomCode } from '../../core/room-code.ts';
import { replay } from '../../text/document.ts';
import { Generations } from '../generations.ts';
import type { Row, Sql } from './database.ts';
import type { OpenedDatabase } from './writer.ts';

/** The data that admission depends on. */
export interface RoomAccess {
  room: Pick<Room, 'code' | 'expiresAt' | 'salt'>;
  pinMac: Uint8Array | null;
  /** Set when a client has given the right PIN. */
  knownPin?: string | undefined;
}

interface RoomText {
  content: Content;
  /** The entries after the content, in an encrypted room. */
  sealed?: SealedLog | undefined;
}

interface CachedRoom extends RoomAccess, Pick<RoomText, 'sealed'> {
  room: Room;
  /** Set after the first read. */
  content: Content | undefined;
}

/** Limits of each of the two generations. */
const maxRooms = 5_000;
const maxTextUnits = 8 * 1024 * 1024;
/** A longer text would displace many rooms, and reading it costs little compared with sending it. */
const longestText = 256 * 1024;
/** A prime, so that room ids are spread over all slots. */
const recentReadSlots = 4093;

export class RoomCache {
  readonly #rooms = new Generations<CachedRoom>({ maxRooms, maxUnits: maxTextUnits, unitsOf });
  /** The last room in each slot. */
  #recentReads = new Float64Array(recentReadSlots);

  get(code: RoomCode): CachedRoom | undefined {
    return this.#rooms.get(code);
  }

  put(code: RoomCode, cached: CachedRoom): CachedRoom {
    const isLong = unitsOf(cached) > longestText;
    this.#rooms.put(code, isLong ? { ...cached, content: undefined, sealed: undefined } : cached);
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

  /** Caches the text of a cached room that was just read. Without one, the room stays, and its text is read again. */
  putText(code: RoomCode, { content, sealed }: Pick<CachedRoom, 'content' | 'sealed'>): void {
    const cached = this.get(code);
    if (cached) this.put(code, { ...cached, content, sealed });
  }

  /** Caches a text that was written, unless a newer one was read before this write was reported. */
  putContent(code: RoomCode, content: Content): void {
    const known = this.get(code)?.content;
    if (!known || known.version < content.version) this.putText(code, { content });
  }

  drop(code: RoomCode): void {
    this.#rooms.drop(code);
  }
}

const unitsOf = ({ content, sealed }: Pick<CachedRoom, 'content' | 'sealed'>) =>
  (sealed?.entries ?? []).reduce((sum, entry) => sum + (entry.sealed?.length ?? 0), content?.content.length ?? 0);

/** Rooms have numeric ids: SQLite finds them by rowid, while a text key needs an index and a second lookup. */
export type RoomId = number | bigint;

/** More do not fit into a JavaScript number. */
const symbolsPerNumber = 10;
const bitsPerSymbol = 5n;

const values = new Uint8Array(128);
for (const [value, symbol] of [...codeSymbols].entries()) values[symbol.charCodeAt(0)] = value;

/** The code as a base 32 number of at most 61 bits. A leading 1 distinguishes `000000` from `0000000`. */
export function roomIdOf(code: RoomCode): RoomId {
  if (code.length <= symbolsPerNumber) return decode(code, 1);
  const [head, tail] = [code.slice(0, symbolsPerNumber), code.slice(symbolsPerNumber)];
  return (BigInt(decode(head, 1)) << (BigInt(tail.length) * bitsPerSymbol)) + BigInt(decode(tail, 0));
}

function decode(symbols: string, before: number): number {
  let number = before;
  for (let i = 0; i < symbols.length; i++) number = number * 32 + (values[symbols.charCodeAt(i)] as number);
  return number;
}

/** Subtracts expired rooms from the total, because counting all others would be slow. */
export function liveRooms(sql: Sql, now: number): number {
  const count = sql('SELECT total - (SELECT count(*) FROM rooms WHERE expires_at <= ?) AS live FROM room_count');
  return Number(count.get(now)?.live);
}

/** A change of a room that has not expired. */
export const inLiveRoom =
  <Args extends unknown[], Result>(change: (sql: Sql, room: RoomId, now: number, ...args: Args) => Result) =>
  (sql: Sql, code: RoomCode, now: number, ...args: Args): Result | 'gone' => {
    const id = roomIdOf(code);
    const isLive = sql('SELECT 1 FROM rooms WHERE id = ? AND expires_at > ?').get(id, now);
    return isLive ? change(sql, id, now, ...args) : gone(sql, code, now);
  };

/** Ends an expired room, so that it stays ended if the clock is set back. The caller looks up the reason. */
export function gone(sql: Sql, code: RoomCode, now: number): 'gone' {
  expireRoom(sql, code, now);
  return 'gone';
}

/** Ends a room if it has expired, and records that. */
export function expireRoom(sql: Sql, code: RoomCode, now: number): void {
  const id = roomIdOf(code);
  const ended = sql('DELETE FROM rooms WHERE id = ? AND expires_at <= ? RETURNING expires_at').get(id, now);
  if (ended) sql('INSERT OR REPLACE INTO expired_rooms VALUES (?, ?)').get(id, ended.expires_at as number);
}

// By name, never *, because room ids may not fit into a JavaScript number.
export const roomColumns = 'code, created_at, expires_at, pin_mac, salt, name, file_count, file_bytes, extend_ms';
export const recordColumns = `${roomColumns}, seq, pin_attempts, version, written_at, keeps_history, revision`;
/** Separate, because not every query needs them. */
export const ownerColumns = 'client, network, text_charge';
export function roomOf(row: Row): Room {
  return {
    code: row.code as RoomCode,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    hasPin: row.pin_mac !== null && row.salt === null,
    ...(row.salt !== null && { salt: row.salt as string }),
    ...(typeof row.extend_ms === 'number' && { extendMs: row.extend_ms }),
    name: (row.name as string | null) ?? undefined,
    fileCount: row.file_count as number,
    fileBytes: row.file_bytes as number,
  };
}

/** A row of `recordColumns` and `ownerColumns`. */
export interface RecordRow extends Row {
  salt: string | null;
  seq: number;
  pin_attempts: number;
  version: number;
  written_at: number;
  keeps_history: number;
  revision: number;
  text_charge: number | null;
}

export function recordOf(row: RecordRow) {
  const { hasPin, fileCount, fileBytes, ...room } = roomOf(row);
  return {
    ...room,
    pinMac: (row.pin_mac as Uint8Array | null) ?? undefined,
    seq: row.seq,
    pinAttempts: row.pin_attempts,
    keepsHistory: row.keeps_history === 1,
    revision: row.revision,
    owner: ownerOf(row),
    textCharge: row.text_charge ?? undefined,
  };
}

/** Separate, because only operators see it. */
export const createdByOf = ({ created_by }: Row) => (created_by ? { createdBy: created_by as CreatedBy } : {});

/** Undefined for data from versions without quotas. */
export function ownerOf({ client, network }: Row): Owner | undefined {
  if (client === null) return undefined;
  return { client: client as string, network: (network as string | null) ?? undefined };
}

/**
 * The full text, and later edits as comma-separated JSON lists; in an encrypted room, the parts of the later entries.
 * One query gives a consistent view.
 */
const textQuery = `
  SELECT expires_at, pin_mac, rooms.version, written_at, content, CASE WHEN rooms.version > ifnull(texts.version, 0) THEN
    (SELECT CASE WHEN salt IS NULL THEN group_concat(edits, ',' ORDER BY edits.version) ELSE group_concat(
        json_array(edits.version, edits.written_at, device, ref, sealed), ',' ORDER BY edits.version) END FROM edits
      WHERE edits.room = rooms.id AND edits.version > ifnull(texts.version, 0)) END, salt, texts.version
  FROM rooms LEFT JOIN texts ON texts.room = rooms.id WHERE rooms.id = ?
`;
/** An array: an object with column names would take a third of the time of a read. */
type TextRow = [
  ...[expiresAt: number, pinMac: Uint8Array | null, version: number, writtenAt: number, fullText: string | null],
  ...[log: string | null, salt: string | null, fullTextVersion: number | null],
];

/** A room whose text has not been decoded yet. */
type RoomToRead = RoomAccess & { row: TextRow };

function roomToReadOf(code: RoomCode, row: TextRow): RoomToRead {
  const [expiresAt, pinMac, , , , , salt] = row;
  return { room: salt === null ? { code, expiresAt } : { code, expiresAt, salt }, pinMac, row };
}

type SealedEntry = [version: number, writtenAt: number, deviceId: string | null, ref: string | null, sealed: string];

/** Call this after the reader is admitted, because applying a log takes time. */
function textOf([, , version, writtenAt, fullText, log, salt, fullTextVersion]: TextRow): RoomText {
  const content = fullText ?? '';
  const later = log === null ? [] : JSON.parse(`[${log}]`);
  if (salt === null)
    return { content: { content: log === null ? content : replay(content, later), version, writtenAt } };
  const entries = (later as SealedEntry[]).map((entry): TextEntry => {
    const [version, writtenAt, deviceId, ref, sealed] = entry;
    return { version, edits: [], sealed, deviceId: deviceId ?? undefined, ref: ref ?? undefined, writtenAt };
  });
  const sealed = { contentVersion: fullTextVersion ?? 0, entries };
  return { content: { content, version, writtenAt }, sealed };
}

interface RoomReaderDeps extends Omit<OpenedDatabase, 'db'> {
  rules: Pick<GuardRules, 'rememberExpiredMs'>;
}

export type RoomReader = ReturnType<typeof createRoomReader>;

type CachedWithText = CachedRoom & { content: Content };

/** Reads rooms from the cache or the database, and ends rooms that are found expired. */
export function createRoomReader({ sql, snapshot, writer, rules }: RoomReaderDeps) {
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
    const pinMac = row?.pin_mac as Uint8Array | null;
    return row && cache.put(code, { room: roomOf(row), pinMac, content: undefined });
  }

  /** The room with its text, or with the row that contains it. */
  function findToRead(code: RoomCode): CachedWithText | RoomToRead | undefined {
    const cached = cache.get(code);
    // The text that a write has put into the cache has no log.
    if (cached && hasText(cached) && (cached.room.salt === undefined || cached.sealed)) return cached;
    snapshot.beginSharedRead();
    const row = textById.get(roomIdOf(code)) as unknown as TextRow | undefined;
    return row && roomToReadOf(code, row);
  }

  /**
   * Caching a room queries it a second time. A write in between updates or drops the cached room before it is
   * acknowledged.
   */
  function readText({ room: { code }, row }: RoomToRead): RoomText {
    const text = textOf(row);
    if (cache.isReadAgain(roomIdOf(code)) && find(code)) cache.putText(code, text);
    return text;
  }

  const missingReason = (code: RoomCode, now: number): MissingReason =>
    expiredById.get(roomIdOf(code), now - rules.rememberExpiredMs) ? 'expired' : 'gone';

  function orReason<T>(code: RoomCode, now: number, outcome: T | 'gone'): T | MissingReason {
    if (outcome !== 'gone') return outcome;
    cache.drop(code);
    return missingReason(code, now);
  }

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

  /** Waits for a change of rooms, drops the cached ones, and returns their number. */
  async function changingAll(change: Promise<RoomCode[]>): Promise<number> {
    const codes = await change;
    for (const code of codes) cache.drop(code);
    return codes.length;
  }

  /** Runs a change of a room, and drops the cached room. */
  const change = async <Args extends unknown[], Result>(
    operation: (sql: Sql, code: RoomCode, now: number, ...args: Args) => Result | 'gone',
    code: RoomCode,
    now: number,
    ...args: Args
  ) => orReason(code, now, await changing(code, writer.run(operation, code, now, ...args)));

  /** Ends an expired room, so that it stays ended if the clock is set back. If this fails, the next sweep does it. */
  async function endForGood(code: RoomCode, now: number): Promise<void> {
    await changing(code, writer.run(expireRoom, code, now)).catch(() => undefined);
  }

  return {
    sql,
    cache,
    beginRead: () => snapshot.beginSharedRead(),
    find,
    findToRead,
    readText,
    readLive,
    missingReason,
    orReason,
    changing,
    changingAll,
    change,
    endForGood,
  };
}

const hasText = (cached: CachedRoom): cached is CachedWithText => cached.content !== undefined;
