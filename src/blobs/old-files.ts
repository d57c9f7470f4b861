/** The names of files in a folder that were last written before a moment. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { noneIfMissing } from './missing-file.ts';

export async function oldFiles(folder: string, moment: number): Promise<string[]> {
  const old: string[] = [];
  for (const name of await readdir(folder)) {
    const found = await stat(join(folder, name)).catch(noneIfMissing);
    if (found && found.mtimeMs < moment) old.push(name);
  }
  return old;
}
