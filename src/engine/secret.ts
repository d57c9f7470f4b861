/** The key for PIN hashes. It is stored outside the database, so that a stolen database alone is not enough. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Config } from '../config.ts';
import { PoproomError } from '../core/errors.ts';
import type { SecretRecord } from '../core/ports/store.ts';

export interface SecretSource {
  /** From the settings. */
  given: string | undefined;
  /** Has the secret if none is given. */
  folder: string;
  record: SecretRecord;
  /** Whether rooms with PINs may be given up. */
  acceptNew: boolean;
}

/** Rejects if it is not the secret of the stored rooms: every PIN would be wrong, without a reason that anyone sees. */
export async function openSecret({ given, folder, record, acceptNew }: SecretSource): Promise<string> {
  const known = await record.find();
  if (known !== undefined && given === undefined && !acceptNew && !existsSync(secretIn(folder))) {
    throw wrongSecret(`The secret in ${secretIn(folder)} is missing`, given);
  }
  const secret = given ?? keepSecret(folder);
  const fingerprint = fingerprintOf(secret);
  if (known === fingerprint || (await record.keep(fingerprint)) === fingerprint) return secret;
  const name = given === undefined ? `The secret in ${secretIn(folder)}` : 'POPROOM_SECRET';
  if (!acceptNew) throw wrongSecret(`${name} is not the one that the PINs of the stored rooms were made with`, given);
  await record.replace(fingerprint);
  return secret;
}

function wrongSecret(problem: string, given: string | undefined): PoproomError {
  const restore = given === undefined ? 'Restore that file from a backup' : 'Set POPROOM_SECRET to its former value';
  const accept = 'To give up the rooms that have a PIN instead, start once with: poproom serve --accept-new-secret';
  return new PoproomError('UNAVAILABLE', `${problem}. ${restore}. ${accept}`);
}

/** Reveals nothing about a random secret. Without `node:crypto`, which takes 10 ms to load at every start. */
const fingerprintOf = (secret: string): string =>
  Buffer.from(hmac(sha256, Buffer.from(secret), Buffer.from('poproom secret'))).toString('base64url');

function keepSecret(folder: string): string {
  const path = secretIn(folder);
  if (!existsSync(path)) createSecret(path);
  const secret = readFileSync(path, 'utf8').trim();
  // A crash during creation may have truncated it. A guessable key must not be used.
  if (secret.length < 32)
    throw new Error(`${path} is damaged. Restore it from a backup, or delete it to create a new one.`);
  return secret;
}

function createSecret(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    // Another server was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
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

/** The files with secrets that a server reads. */
export const secretFiles = ({ secret, dataDir, tlsKey }: Pick<Config, 'secret' | 'dataDir' | 'tlsKey'>): string[] => [
  ...(secret === undefined ? [secretIn(dataDir)] : []),
  ...(tlsKey ? [tlsKey] : []),
];

export const secretIn = (folder: string) => join(folder, 'secret');
