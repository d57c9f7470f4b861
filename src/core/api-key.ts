/** API keys: shown once at creation, stored only as a hash. */
import { createHash, randomBytes, randomInt } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^pop_[0-9A-Za-z]{32}$/;

export interface DrawnKey {
  id: string;
  /** The key itself. Only its owner may see it. */
  text: string;
  hash: string;
}

export function drawApiKey(): DrawnKey {
  let text = 'pop_';
  for (let i = 0; i < 32; i++) text += base62[randomInt(base62.length)];
  return { id: randomBytes(5).toString('hex'), text, hash: hashApiKey(text) };
}

export function hashApiKey(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Saves a lookup in the store for text that cannot be a key. */
export function looksLikeApiKey(text: string): boolean {
  return form.test(text);
}
