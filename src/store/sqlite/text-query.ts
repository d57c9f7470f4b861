/** Reads a room with its text in one query. */
import type { Content } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { replay } from '../../text/document.ts';
import type { RoomAccess } from './room-cache.ts';

/** The full text, and later edits as comma-separated JSON lists. One query gives a consistent view. */
export const textQuery = `
  SELECT expires_at, pin_mac, rooms.version, written_at, content, CASE WHEN rooms.version > ifnull(texts.version, 0) THEN
    (SELECT group_concat(edits, ',' ORDER BY edits.version) FROM edits
      WHERE edits.room = rooms.id AND edits.version > ifnull(texts.version, 0)) END, salt
  FROM rooms LEFT JOIN texts ON texts.room = rooms.id WHERE rooms.id = ?
`;
/** An array: an object with column names would take a third of the time of a read. */
export type TextRow = [number, Uint8Array | null, number, number, string | null, string | null, string | null];

/** A room whose text has not been decoded yet. */
export interface RoomToRead extends RoomAccess {
  row: TextRow;
}

export function roomToReadOf(code: RoomCode, row: TextRow): RoomToRead {
  const [expiresAt, pinMac, , , , , salt] = row;
  return { room: salt === null ? { code, expiresAt } : { code, expiresAt, salt }, pinMac, row };
}

/** Call this after the reader is admitted, because applying a log takes time. */
export function contentOf([, , version, writtenAt, fullText, log]: TextRow): Content {
  const content = log === null ? fullText : replay(fullText ?? '', JSON.parse(`[${log}]`));
  return { content: content ?? '', version, writtenAt };
}
