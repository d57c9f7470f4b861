/**
 * Finds and overwrites bytes of a database file that belong to no row. SQLite overwrites deleted rows. But when it
 * splits a full page, it may leave copies of rows in the free space between the cell pointers and the cells. They
 * would remain after the rows are deleted.
 *
 * The layout of pages is in https://sqlite.org/fileformat2.html
 */
import { fdatasyncSync, fstatSync, readSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** The offset of the cell pointers by page type: interior and leaf pages of indexes and tables. */
const pointersAt: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
/** Precedes the header of the first page. */
const fileHeader = 100;
/**
 * Other pages start with a page number. Its first byte is smaller than any page type as long as there are fewer pages
 * than this (64 GiB).
 */
const maxPages = 2 ** 25;

const zeros = Buffer.alloc(65_536);
/** Small enough for the cache of a core. */
const scanChunkBytes = 256 * 1024;

interface Range {
  from: number;
  to: number;
}

export interface PageLayout {
  size: number;
  /** A database that can shrink has pages that only say where others are referenced. They may look like other pages. */
  isPointerMap(number: number): boolean;
}

/** SQLite locks bytes of this page and never uses it. */
const lockByte = 0x4000_0000;
const pointerBytes = 5;

export function layoutOf(db: DatabaseSync): PageLayout {
  const size = Number(db.prepare('PRAGMA page_size').get()?.page_size);
  const hasPointerMaps = Number(db.prepare('PRAGMA auto_vacuum').get()?.auto_vacuum) !== 0;
  const pagesPerMap = Math.floor(size / pointerBytes) + 1;
  const lockPage = lockByte / size + 1;
  return {
    size,
    isPointerMap(number) {
      if (!hasPointerMaps || number < 2) return false;
      const first = number - ((number - 2) % pagesPerMap);
      return number === (first === lockPage ? first + 1 : first);
    },
  };
}

/** The free space of the page, if it contains non-zero bytes. */
export function staleRange(page: Buffer, number: number, { isPointerMap }: PageLayout): Range | undefined {
  if (isPointerMap(number)) return undefined;
  const header = number === 1 ? fileHeader : 0;
  const pointers = pointersAt[page[header] ?? 0];
  if (pointers === undefined) return undefined;
  const from = header + pointers + 2 * page.readUInt16BE(header + 3);
  const to = page.readUInt16BE(header + 5) || 65_536;
  if (from >= to || to > page.length) return undefined;
  return page.compare(zeros, 0, to - from, from, to) === 0 ? undefined : { from, to };
}

export function scanDatabase(file: number, layout: PageLayout): Set<number> {
  const stale = new Set<number>();
  for (const { piece: page, index } of pieces(file, 0, layout.size)) {
    if (staleRange(page, index + 1, layout)) stale.add(index + 1);
  }
  return stale;
}

/** The caller ensures that the file has the newest copy of each page, and that no one writes. */
export function overwriteStale(file: number, layout: PageLayout, pages: Iterable<number>): void {
  if (fstatSync(file).size / layout.size >= maxPages) return;
  for (const number of pages) {
    const start = (number - 1) * layout.size;
    const range = staleRange(read(file, start, layout.size), number, layout);
    if (range) writeSync(file, zeros, 0, range.to - range.from, start + range.from);
  }
  fdatasyncSync(file);
}

/** Reads pieces of equal size up to the end of the file. A piece is valid until the next one. */
export function* pieces(file: number, start: number, size: number): Generator<{ piece: Buffer; index: number }> {
  const length = Math.max(1, Math.floor(scanChunkBytes / size)) * size;
  const buffer = Buffer.allocUnsafe(length);
  for (let [position, index] = [start, 0]; ; position += length) {
    const chunk = buffer.subarray(0, readSync(file, buffer, 0, length, position));
    for (let at = 0; at + size <= chunk.length; at += size)
      yield { piece: chunk.subarray(at, at + size), index: index++ };
    if (chunk.length < length) return;
  }
}

export function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}
