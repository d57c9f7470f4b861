/**
 * Finds and overwrites bytes of a database file that belong to no row. SQLite overwrites the rows that it deletes. But
 * when it divides a full page in two, it may leave copies of rows in the free space of the page, between the pointers to
 * the cells and the cells. They would outlive the rows.
 *
 * The layout of pages is in https://sqlite.org/fileformat2.html
 */
import { fdatasyncSync, fstatSync, readSync, writeSync } from 'node:fs';

/** Where the pointers to the cells begin, by the type of a page: interior and leaf pages of indexes and of tables. */
const pointersAt: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
/** In front of the header of the first page. */
const fileHeader = 100;
/**
 * Pages of other kinds begin with the number of a page. Its first byte is less than any type as long as there are fewer
 * pages than this, which are 64 GiB.
 */
const mostPages = 2 ** 25;

const zeros = Buffer.alloc(65_536);
const scanAtOnce = 1024 * 1024;

interface Range {
  from: number;
  to: number;
}

/** The free space of the page, where it is not empty. */
export function staleRange(page: Buffer, number: number): Range | undefined {
  const header = number === 1 ? fileHeader : 0;
  const pointers = pointersAt[page[header] ?? 0];
  if (pointers === undefined) return undefined;
  const from = header + pointers + 2 * page.readUInt16BE(header + 3);
  const to = page.readUInt16BE(header + 5) || 65_536;
  if (from >= to || to > page.length) return undefined;
  return page.compare(zeros, 0, to - from, from, to) === 0 ? undefined : { from, to };
}

export function scanDatabase(file: number, pageSize: number): Set<number> {
  const stale = new Set<number>();
  for (const { piece: page, index } of pieces(file, 0, pageSize)) {
    if (staleRange(page, index + 1)) stale.add(index + 1);
  }
  return stale;
}

/** The caller sees to it that the file has the newest copy of each page, and that nobody writes. */
export function overwriteStale(file: number, pageSize: number, pages: Iterable<number>): void {
  if (fstatSync(file).size / pageSize >= mostPages) return;
  for (const number of pages) {
    const start = (number - 1) * pageSize;
    const range = staleRange(read(file, start, pageSize), number);
    if (range) writeSync(file, zeros, 0, range.to - range.from, start + range.from);
  }
  fdatasyncSync(file);
}

/** Pieces of the same size, up to the end of the file. */
export function* pieces(file: number, start: number, size: number): Generator<{ piece: Buffer; index: number }> {
  const length = Math.max(1, Math.floor(scanAtOnce / size)) * size;
  for (let [position, index] = [start, 0]; ; position += length) {
    const chunk = read(file, position, length);
    for (let at = 0; at + size <= chunk.length; at += size)
      yield { piece: chunk.subarray(at, at + size), index: index++ };
    if (chunk.length < length) return;
  }
}

export function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}
