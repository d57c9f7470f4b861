/** The key of the PIN hashes. It stands beside the database, not in it: a stolen copy of the one is no use alone. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export function keepSecret(folder: string): string {
  const path = join(folder, 'secret');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, randomBytes(32).toString('hex'));
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const secret = readFileSync(path, 'utf8').trim();
  // Cut short by a crash while it was made: a guessable key must not be used in silence.
  if (secret.length < 32)
    throw new Error(`${path} is damaged; restore it from a backup, or delete it to make a new one`);
  return secret;
}
