/** A process that uploads many files of the maximum size to an S3 store concurrently, and reports its memory. */
import { Readable } from 'node:stream';
import { openS3Blobs, type S3Options } from '../../src/blobs/s3.ts';
import { newName } from '../contract/blobs.ts';
import { peakMemory } from './process-stats.ts';

export interface UploadsReport {
  /** Peak memory in MiB, after two uploads and after all. */
  before: number;
  after: number;
}

const KiB = 1024;
const largest = 10 * KiB * KiB;
const [options = '{}', concurrency = '1'] = process.argv.slice(2);
const blobs = await openS3Blobs(JSON.parse(options) as S3Options);

// The first uploads load code and grow the heap, whatever the file size.
for (let n = 0; n < 2; n++) await upload();
const before = await peakMemory(process.pid);
await Promise.all(Array.from({ length: Number(concurrency) }, upload));
const report: UploadsReport = { before, after: await peakMemory(process.pid) };
console.log(JSON.stringify(report));

async function upload(): Promise<void> {
  await blobs.put(newName(), Readable.from(chunks()), largest, new AbortController().signal);
}

function* chunks(): Generator<Buffer> {
  for (let sent = 0; sent < largest; sent += 64 * KiB) yield Buffer.alloc(64 * KiB, 'x');
}
