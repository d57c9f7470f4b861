/** Searches for texts in the files of a data folder, like a thief would. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { compress } from '../../src/store/sqlite/compression.ts';
import { eventually } from './eventually.ts';

/** After this time nothing is left of what was deleted. */
const erasedWithinMs = 30_000;
const lineLength = 32;

/** A text of about so many bytes, whose lines occur nowhere else and do not compress away. */
export function uniqueText(bytes: number): string {
  const line = () => randomBytes((lineLength * 3) / 4).toString('base64url');
  return Array.from({ length: Math.ceil(bytes / (lineLength + 1)) }, line).join('\n');
}

/** Waits until not one line of the texts is in any file of the folder. */
export async function assertErased(folder: string, texts: readonly string[]): Promise<void> {
  const isAbsent = async () => (await tracesIn(folder, texts)).size === 0;
  // Twice: what is carried over from the log to the database while they are read is found in neither.
  const isErased = async () => (await isAbsent()) && (await isAbsent());
  await eventually('nothing is left of deleted texts', isErased, erasedWithinMs);
}

/** So that a search that finds nothing means something: each of the texts can be found. */
export async function assertFound(folder: string, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await eventually('the text is in the files', async () => (await tracesIn(folder, [text])).size > 0);
  }
}

/** What the files have of the texts: their lines, and parts of the texts as they are compressed. */
export async function tracesIn(folder: string, texts: readonly string[]): Promise<Set<string>> {
  return grep(folder, [...texts.flatMap(halvesOfLines), ...texts.flatMap(partsOfCompressed)]);
}

/** Where a page ends in the middle of a line, the halves of it may still be whole. */
function halvesOfLines(text: string): string[] {
  return text.split('\n').flatMap((line) => [line.slice(0, line.length / 2), line.slice(line.length / 2)]);
}

function partsOfCompressed(text: string): string[] {
  const bytes = Buffer.from(compress(text));
  // Not from the beginning, which may be the same in others.
  const starts = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, n) => 100 + n * 16);
  return starts.map((at) => bytes.toString('latin1', at, at + 16));
}

/** Another process reads: closing a file of the database in this one would give up the locks that SQLite has on it. */
function grep(folder: string, strings: readonly string[]): Promise<Set<string>> {
  const patterns = strings.filter((string) => string.length >= 12 && !/[\n\0]/.test(string));
  const options = { encoding: 'latin1', maxBuffer: 1024 ** 3, env: { ...process.env, LC_ALL: 'C' } } as const;
  // Nothing was found, or a file was removed meanwhile.
  const harmless: unknown[] = [1, 2];
  return new Promise((resolve, reject) => {
    const onEnd = (error: { code?: unknown } | null, output: string) => {
      if (error && !harmless.includes(error.code)) reject(error);
      else resolve(new Set(output.split('\n').filter((line) => line !== '')));
    };
    const child = execFile('grep', ['-raoFhs', '-f', '-', folder], options, onEnd);
    child.stdin?.end(patterns.join('\n'), 'latin1');
  });
}
