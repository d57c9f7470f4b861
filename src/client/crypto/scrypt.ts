/** scrypt, which makes it expensive to guess a room key. */
import { scrypt as nobleScrypt, scryptAsync } from '@noble/hashes/scrypt.js';
import { findNativeCrypto, type NativeCrypto } from './native.ts';

/** Fixed by the scheme: a server could weaken parameters that it sends. */
const cost = { N: 2 ** 15, r: 8, p: 1 };

export function scrypt(password: Uint8Array, salt: Uint8Array, bytes: number): Promise<Uint8Array> {
  const native = findNativeCrypto();
  return native ? nativeScrypt(native, password, salt, bytes) : portableScrypt(password, salt, bytes);
}

/** Gives way to other tasks every 10 ms, so that a page stays responsive. */
export function portableScrypt(password: Uint8Array, salt: Uint8Array, bytes: number): Promise<Uint8Array> {
  const run = () => scryptAsync(password, salt, { ...cost, dkLen: bytes, asyncTick: 10 });
  const { scheduler } = globalThis as { scheduler?: Partial<TaskScheduler> };
  // At a higher priority, Chromium would delay all timers until the end, and most frames.
  return scheduler?.postTask ? scheduler.postTask(run, { priority: 'background' }) : run();
}

/** A fifth faster, for a thread that has nothing else to do. */
export const blockingScrypt: typeof scrypt = async (password, salt, bytes) =>
  nobleScrypt(password, salt, { ...cost, dkLen: bytes });

/** Part of Chromium and Firefox. */
interface TaskScheduler {
  postTask<T>(task: () => Promise<T>, options: { priority: 'background' }): Promise<T>;
}

/** Runs on another thread. */
function nativeScrypt(
  native: NativeCrypto,
  password: Uint8Array,
  salt: Uint8Array,
  bytes: number,
): Promise<Uint8Array> {
  // Node needs a little more than the 32 MiB of the algorithm.
  const limits = { ...cost, maxmem: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    native.scrypt(password, salt, bytes, limits, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
