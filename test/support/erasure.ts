/** Searches the files of a data folder for deleted texts. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { compress } from '../../src/store/sqlite/text.ts';
import { eventually } from './eventually.ts';

/** Deleted data is erased within this time. */
const erasedWithinMs = 30_000;
const lineLength = 32;

/** A text of about this many bytes, whose lines are unique and do not compress. */
export function uniqueText(bytes: number): string {
  const line = () => randomBytes((lineLength * 3) / 4).toString('base64url');
  return Array.from({ length: Math.ceil(bytes / (lineLength + 1)) }, line).join('\n');
}

/** Waits until no file of the folder contains a line of the texts. */
export async function assertErased(folder: string, texts: readonly string[]): Promise<void> {
  const isAbsent = async () => (await tracesIn(folder, texts)).size === 0;
  // Twice, because a search can miss data that SQLite moves from the WAL to the database meanwhile.
  const isErased = async () => (await isAbsent()) && (await isAbsent());
  await eventually('no trace of the deleted texts is left', isErased, erasedWithinMs);
}

/** Fails unless each text can be found. Without this check, an empty search result proves nothing. */
export async function assertFound(folder: string, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await eventually('the text is in the files', async () => (await tracesIn(folder, [text])).size > 0);
  }
}

/** The parts of the texts that are in the files: lines, and pieces of the compressed text. */
export async function tracesIn(folder: string, texts: readonly string[]): Promise<Set<string>> {
  return grep(folder, [...texts.flatMap(halvesOfLines), ...texts.flatMap(partsOfCompressed)]);
}

/** If a database page ends within a line, one half of the line may still be complete. */
function halvesOfLines(text: string): string[] {
  return text.split('\n').flatMap((line) => [line.slice(0, line.length / 2), line.slice(line.length / 2)]);
}

function partsOfCompressed(text: string): string[] {
  const bytes = Buffer.from(compress(text));
  // Skips the beginning, which may be the same for other texts.
  const starts = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, n) => 100 + n * 16);
  return starts.map((at) => bytes.toString('latin1', at, at + 16));
}

/** Uses another process: closing a database file in this one would release the locks of SQLite. */
function grep(folder: string, strings: readonly string[]): Promise<Set<string>> {
  const patterns = strings.filter((string) => string.length >= 12 && !/[\n\0]/.test(string));
  const options = { encoding: 'latin1', maxBuffer: 1024 ** 3, env: { ...process.env, LC_ALL: 'C' } } as const;
  // 1: nothing was found. 2: a file was removed during the search.
  const expectedCodes: unknown[] = [1, 2];
  return new Promise((resolve, reject) => {
    const onEnd = (error: { code?: unknown } | null, output: string) => {
      if (error && !expectedCodes.includes(error.code)) reject(error);
      else resolve(new Set(output.split('\n').filter((line) => line !== '')));
    };
    const child = execFile('grep', ['-raoFhs', '-f', '-', folder], options, onEnd);
    child.stdin?.end(patterns.join('\n'), 'latin1');
  });
}
