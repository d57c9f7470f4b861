/** Stores standard input and pipes in a private temporary file, because an upload needs their size. */
import { createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withFileErrors } from '../file-error.ts';
import { LocalFile } from './local-file.ts';

export interface SpoolOptions {
  signal: AbortSignal;
  /** Called with the number of bytes so far. If it throws, reading stops. */
  check(bytes: number): void;
}

/** The files are removed when the process exits, also after an error or an interruption. */
export async function spool(source: AsyncIterable<Buffer>, { signal, check }: SpoolOptions): Promise<LocalFile> {
  // Only its owner can open a folder that mkdtemp creates.
  const folder = await withFileErrors(tmpdir(), () => mkdtemp(join(tmpdir(), 'poproom-')));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'input');
  await withFileErrors(path, () =>
    pipeline(source, counted(check), createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal }),
  );
  return new LocalFile(path, await stat(path));
}

function counted(check: (bytes: number) => void) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      check(bytes);
      yield chunk;
    }
  };
}
