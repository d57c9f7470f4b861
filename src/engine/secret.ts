/** The key of the PIN hashes. It stands beside the database, not in it: a stolen copy of the one is no use alone. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export function keepSecret(folder: string): string {
  const path = secretIn(folder);
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

/** Gives the second folder the secret of the first; one that it has already stays. */
export function copySecret(from: string, to: string): 'same' | 'different' {
  const secret = readFileSync(secretIn(from), 'utf8').trim();
  if (existsSync(secretIn(to))) return readFileSync(secretIn(to), 'utf8').trim() === secret ? 'same' : 'different';
  mkdirSync(to, { recursive: true, mode: 0o700 });
  // Whole or not at all: a part of it would look like another secret.
  writeFileSync(`${secretIn(to)}.new`, secret, { mode: 0o600, flush: true });
  renameSync(`${secretIn(to)}.new`, secretIn(to));
  return 'same';
}

export const secretIn = (folder: string) => join(folder, 'secret');
