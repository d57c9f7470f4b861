/** The key for PIN hashes. It is stored outside the database, so that a stolen database alone is not enough. */
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
  // A crash during creation may have truncated it. A guessable key must not be used.
  if (secret.length < 32)
    throw new Error(`${path} is damaged. Restore it from a backup, or delete it to create a new one.`);
  return secret;
}

/** Copies the secret to another folder, unless that folder already has one. */
export function copySecret(from: string, to: string): 'same' | 'different' {
  const secret = readFileSync(secretIn(from), 'utf8').trim();
  if (existsSync(secretIn(to))) return readFileSync(secretIn(to), 'utf8').trim() === secret ? 'same' : 'different';
  mkdirSync(to, { recursive: true, mode: 0o700 });
  // Atomic: a partial copy would look like a different secret.
  writeFileSync(`${secretIn(to)}.new`, secret, { mode: 0o600, flush: true });
  renameSync(`${secretIn(to)}.new`, secretIn(to));
  return 'same';
}

export const secretIn = (folder: string) => join(folder, 'secret');
