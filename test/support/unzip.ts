/**
 * Reads small zip archives whose files are not compressed, and checks their records. It shares no code with src/zip;
 * info-zip.ts reads archives with a program that others use.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

export interface UnzippedFile {
  path: string;
  bytes: Buffer;
  modifiedAt: number;
}

/** Sorted by path. */
export function unzip(archive: Uint8Array): UnzippedFile[] {
  return filesIn(Buffer.from(archive)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The names of the files in an archive on disk, in its order. */
export async function namesInZip(archive: string): Promise<string[]> {
  return filesIn(await readFile(archive)).map(({ path }) => path);
}

/** The text of one file in an archive on disk. */
export async function textInZip(archive: string, path: string): Promise<string> {
  const found = filesIn(await readFile(archive)).find((file) => file.path === path);
  return String(found?.bytes ?? assert.fail(`${path} is not in the archive`));
}

const endBytes = 22;

function filesIn(archive: Buffer): UnzippedFile[] {
  const end = archive.length - endBytes;
  assert.equal(archive.readUInt32LE(end), 0x06054b50, 'the archive ends with its end record');
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  const files = Array.from({ length: count }, () => {
    const lengths = [28, 30, 32].map((field) => archive.readUInt16LE(at + field));
    const file = fileAt(archive, at);
    at += lengths.reduce((sum, length) => sum + length, 46);
    return file;
  });
  assert.equal(at, end, 'the directory ends where the end record starts');
  return files;
}

/** `at` is the position of its record in the directory. */
function fileAt(archive: Buffer, at: number): UnzippedFile {
  assert.equal(archive.readUInt32LE(at), 0x02014b50, 'a record of the directory');
  assert.equal(archive.readUInt16LE(at + 10), 0, 'the file is not compressed');
  const [size, pathLength] = [archive.readUInt32LE(at + 24), archive.readUInt16LE(at + 28)];
  const path = archive.subarray(at + 46, at + 46 + pathLength);
  const header = archive.readUInt32LE(at + 42);
  assert.equal(archive.readUInt32LE(header), 0x04034b50, 'a local header');
  assert.deepEqual(archive.subarray(header + 30, header + 30 + pathLength), path, 'both records have the same name');
  const start = header + 30 + pathLength + archive.readUInt16LE(header + 28);
  const bytes = archive.subarray(start, start + size);
  assert.equal(crc32(bytes), archive.readUInt32LE(at + 16), `the checksum of ${path}`);
  // The first extra field has a byte of flags and the time in seconds.
  const extra = at + 46 + pathLength;
  assert.equal(archive.readUInt16LE(extra), 0x5455, 'the field of the time');
  return { path: String(path), bytes, modifiedAt: archive.readUInt32LE(extra + 5) * 1000 };
}
